"""Handing a generator to other programs: one module per format."""
