"""The frame of the result page: head with its style, and foot. One column on a phone, a grid on a desktop."""

from __future__ import annotations

import html

_STYLE = """
:root { color-scheme: light dark; --page: #f4f4f1; --card: #ffffff; --ink: #1c1c1a; --soft: #5d5d57; --line: #dddcd5;
  --error: #a3231c; --error-back: #fdecea; --warning: #6f4e00; --warning-back: #fdf4dc; --focus: #1f5fbf; }
@media (prefers-color-scheme: dark) {
  :root { --page: #161618; --card: #222226; --ink: #ececea; --soft: #a9a9a4; --line: #38383e;
    --error: #ffb4ab; --error-back: #42201d; --warning: #f1cf7a; --warning-back: #3a3018; --focus: #8ab4ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1500px; padding: 16px; background: var(--page); color: var(--ink);
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header { margin: 8px 0 20px; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 6px; }
header p { margin: 0; color: var(--soft); overflow-wrap: anywhere; }
main { display: grid; gap: 16px; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); }
article { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px; min-width: 0; }
article.failed { border-color: var(--error); }
h2 { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: baseline; justify-content: space-between;
  font-size: 1rem; font-weight: 600; margin: 0 0 10px; overflow-wrap: anywhere; }
.size { font-weight: 400; font-size: .85rem; color: var(--soft); white-space: nowrap; }
.pictures { display: grid; gap: 10px; grid-template-columns: repeat(3, minmax(0, 1fr)); align-items: start; }
.pictures.count1 { grid-template-columns: 1fr; }
.pictures.count2 { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.pictures .input { order: -1; }
figure { margin: 0; min-width: 0; }
img { display: block; width: 100%; height: auto; max-height: min(70vh, 400px); object-fit: contain; border-radius: 8px;
  outline: 1px solid var(--line); outline-offset: -1px; }
.pictures.count1 img { width: auto; max-width: 100%; max-height: 160px; }
a { display: block; border-radius: 8px; }
a:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
figcaption { margin-top: 4px; font-size: .85rem; color: var(--soft); }
article p { margin: 10px 0 0; padding: 8px 10px; border-radius: 8px; font-size: .9rem; overflow-wrap: anywhere; }
.error { color: var(--error); background: var(--error-back); }
.warning { color: var(--warning); background: var(--warning-back); }
@media (max-width: 600px) {
  body { padding: 12px; }
  h1 { font-size: 1.3rem; }
  .pictures.count3 { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .pictures.count3 .result { grid-column: 1 / -1; order: -2; } }
""".strip()

_LEGEND = '<p>Attention: where the network looked, red most and blue least.</p>\n'


def head(done: int, failed: int, model: str, heatmaps: bool) -> str:
    """Up to where the pictures begin."""
    pictures = '1 picture' if done == 1 else f'{done} pictures'
    failures = f', {failed} failed' if failed else ''
    legend = _LEGEND if heatmaps else ''
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="ugatit">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>U-GAT-IT: {pictures}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<header>
<h1>{pictures} translated{failures}</h1>
<p>{html.escape(model)}</p>
{legend}</header>
<main>
"""


def foot() -> str:
    """What closes the page."""
    return '</main>\n</body>\n</html>\n'
