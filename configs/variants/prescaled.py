"""Statistics of slices that powers of two bring into float16's range first, so that they are right when everything
is float16; the function is kept.
"""

statistics = [('.*', 'prescaled')]
