"""From pictures in files to translated pictures in files: what `infer.py` does, as a library.

`command.infer` is the whole of it; `run.translate_pictures` translates with a model that is loaded already.
"""
