"""How often each path of a paced view is best taken, by what that is estimated to cost and to save."""
