"""Every mean and variance in float32 whatever the precision; the function is kept."""

statistics = [('.*', 'float32')]
