"""Pictures in and out: decoding, listing, resizing, conversion and heat maps, one function each for every command.

Training, inference and export share `decode_image` and `resize`, so what the network sees never depends on the command.
"""
