"""Views to a warehouse: checked, placed, copied, filled, brought in line with what is there."""
