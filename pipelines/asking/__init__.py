"""Questions of a warehouse: queries, exports, status and explanations."""
