"""The frame that both reports share: style, head and foot, and the script that sorts a table. Nothing is loaded."""

from __future__ import annotations

import html

from ugatit.data.reports import HTML_MARK

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c2430;--soft:#5b6675;--line:#d5dbe3;--band:#f1f4f8;--card:#fff;
--good:#0b6b4f;--good-back:#e3f4ec;--bad:#a3231c;--bad-back:#fdecea;--focus:#1f5fbf}
@media (prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e7ebf1;--soft:#a3aebd;--line:#343c48;--band:#1d232c;
--card:#181d25;--good:#5fd3ac;--good-back:#123328;--bad:#ff9d94;--bad-back:#3d1d1b;--focus:#8ab4ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1460px;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.2rem;margin:2.2rem 0 .5rem;border-top:1px solid var(--line);padding-top:1rem}
p,li{max-width:90ch;overflow-wrap:anywhere}.soft{color:var(--soft)}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:8px;max-width:100%}
.wide:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
table{border-collapse:collapse;font-size:.84rem;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.35rem .6rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
thead th{position:sticky;top:0;background:var(--band);color:var(--soft);font-weight:600;z-index:1}
td.l,th.l{text-align:left}tbody th{text-align:left;font-weight:600;position:sticky;left:0;background:var(--paper)}
tbody th small,td small{display:block;font-weight:400;color:var(--soft);white-space:normal;
min-width:17rem;max-width:26rem}
th button{all:unset;cursor:pointer;white-space:nowrap}
th[aria-sort=ascending] button::after{content:" \\25B2"}th[aria-sort=descending] button::after{content:" \\25BC"}
tr.pinned th,tr.pinned td{background:var(--band);border-bottom:2px solid var(--soft)}
tr.best th{background:var(--good-back)}tr.best td{background:var(--good-back)}
tr.unusable th{background:var(--bad-back)}tr.unusable td{background:var(--bad-back)}
.mark{display:inline-block;font-size:.74rem;font-weight:700;border:1px solid currentColor;border-radius:999px;
padding:0 .5em;margin-left:.4em;white-space:nowrap}
.mark.good{color:var(--good)}.mark.bad{color:var(--bad)}.mark.plain{color:var(--soft)}
svg.chart{max-width:100%;height:auto;color:var(--ink);display:block}
.drawing{overflow-x:auto}.drawing svg{min-width:440px}
figure{margin:0;min-width:0}figcaption{font-size:.8rem;color:var(--soft)}
.charts{display:grid;gap:1.2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,560px),1fr));align-items:start}
.grid td,.grid th{padding:.3rem;border:0;text-align:left;vertical-align:middle}
.grid img{display:block;border-radius:6px;image-rendering:auto}
.grid td>img{width:72px;height:auto;image-rendering:pixelated}
.pair{display:flex;gap:4px}.pair img{width:96px;height:auto}
.scale{display:inline-block;width:160px;height:.8em;border-radius:2px;vertical-align:middle;print-color-adjust:exact;
background:linear-gradient(90deg,#000004,#57106e,#bc3754,#f98e09,#fcffa4)}
@media (max-width:700px){body{font-size:15px}main{padding:.7rem}.pair{flex-direction:column}
tbody th small{min-width:8.5rem}
tbody th{max-width:10rem;white-space:normal}.mark{margin-left:0}
.grid tbody th{min-width:5.5rem;max-width:7.5rem;overflow-wrap:break-word}}
@media print{main{max-width:none;padding:0}h2{break-after:avoid}.wide{overflow:visible;border:0}table{font-size:6.5pt}
th,td{padding:.1rem .2rem;
white-space:normal}thead th,tbody th{position:static}.pair img{width:60px}tr,svg,figure{break-inside:avoid}
.screen{display:none}tbody th small{min-width:8rem}
.mark{font-size:5.5pt;margin-left:0}tr.best th,tr.unusable th,.mark{print-color-adjust:exact}}
""".strip()

_SORT = """
for (const table of document.querySelectorAll('table.sortable')) {
  table.tHead.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button) return;
    const head = button.closest('th'), column = head.cellIndex;
    const down = head.getAttribute('aria-sort') === 'descending';
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'ascending' : 'descending');
    const body = table.tBodies[0], sign = down ? 1 : -1;
    const key = row => row.cells[column].dataset.v;
    const rows = [...body.rows].filter(row => !row.classList.contains('pinned'));
    rows.sort((a, b) => {
      const x = key(a), y = key(b);
      if (x === '' || y === '') return (x === '') - (y === '');
      const number = Number(x) - Number(y);
      return sign * (Number.isNaN(number) ? x.localeCompare(y) : number);
    });
    for (const row of rows) body.append(row);
  });
}
""".strip()


def page(title: str, body: str) -> str:
    """The whole file."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'{HTML_MARK}<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body><main><h1>{html.escape(title)}</h1>\n'
        f'{body}\n</main><script>{_SORT}</script></body></html>\n'
    )


def header(name: str, left: bool = False, hint: str = '') -> str:
    """A table head that sorts."""
    side, title = ' class="l"' if left else '', f' title="{html.escape(hint)}"' if hint else ''
    return f'<th scope="col"{side}><button type="button"{title}>{html.escape(name)}</button></th>'


def cell(text: str, value: object = '', left: bool = False) -> str:
    """A table cell; `value` is what it sorts by ('' goes last)."""
    side = ' class="l"' if left else ''
    return f'<td{side} data-v="{html.escape(str(value))}">{text}</td>'


def scroller(label: str, table: str) -> str:
    """A box that scrolls sideways, also with the keyboard."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(label)}">{table}</div>'


def chart(svg: object, caption: str) -> str:
    """A figure; without a drawing the reason."""
    if svg is None:
        return "<p class='soft'>This chart needs matplotlib: pip install -e '.[plots]', and run the command again.</p>"
    svg = f'<div class="drawing" tabindex="0" role="region" aria-label="chart">{svg}</div>'
    return f'<figure>{svg}<figcaption>{html.escape(caption)}</figcaption></figure>'
