"""How good results are: distances between sets of pictures (KID, FID), and between pictures that belong together.

`measure.judge` is the whole of it for files; `kernel.kid` and `frechet.fid` take features of any kind.
"""
