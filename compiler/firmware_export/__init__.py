"""A finished build as a folder of C that drops into somebody's firmware project.

collect.py      which files a model needs: runtime, kernel headers, the model itself
formats.py      how each build system wants them laid out, from templates/<format>/
single_file.py  everything as one .c and one .h
"""
