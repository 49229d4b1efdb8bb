"""Finding out what overflows and why: range reports with a plot, and checkpoints made to overflow on purpose."""
