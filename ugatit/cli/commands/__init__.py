"""One module per command of a script with several: its flags, and a main that calls the library."""
