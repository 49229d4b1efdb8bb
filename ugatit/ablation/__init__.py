"""`ablate.py`: every choice of normalisation and float16 on one checkpoint, or over training runs, with one report.

`spec` reads the list of variants, `inference` measures them one by one and remembers what is done, `training` does the
same for whole training runs, `page` and `training_page` make the reports.
"""
