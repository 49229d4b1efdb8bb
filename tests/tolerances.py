"""Every tolerance of the suite, each with the reason for its size; tests hold no tolerance numbers of their own.

Where exactness is claimed there is no tolerance: tests compare with `==` or `np.array_equal`.
"""

from __future__ import annotations
