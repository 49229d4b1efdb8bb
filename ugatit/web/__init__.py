"""The local web page of `demo.py`.

`lab` computes, `models` loads, `upload` reads what arrives, `words` says what came out: none of them knows Gradio.
`page` lays it out, `server` serves it on this machine alone.
"""
