"""The network of the paper, statistics in the precision of the vector operations, range exponents allowed; the
function is kept.
"""
