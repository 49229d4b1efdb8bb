"""The page's own style, on top of Gradio's; light and dark, from 360 pixels on."""

from __future__ import annotations

from ugatit.diagnosis.plot import COLOURS, DARK_COLOURS, LEFT, STYLE

CSS = f"""
.gradio-container{{--font:system-ui,sans-serif!important;--font-mono:ui-monospace,monospace!important;
font-family:system-ui,sans-serif!important;max-width:1400px!important;width:100%!important;margin:0 auto!important}}
.ugatit{{--paper:#fff;--ink:#1c2430;--soft:#5b6675;--line:#d5dbe3;--band:#f1f4f8;--good:#0b7a66;--note:#8a5a00;
{COLOURS};color:var(--ink);font-size:15px;line-height:1.5}}
.dark .ugatit{{--paper:#12161c;--ink:#e7ebf1;--soft:#a3aebd;--line:#343c48;--band:#1d232c;--good:#35c2a4;
--note:#e5b454;{DARK_COLOURS}}}
.ugatit h1{{font-size:1.5rem;line-height:1.25;margin:.2rem 0 .3rem;font-weight:600}}
.ugatit b{{font-weight:600}}
.ugatit p{{margin:.15rem 0 .4rem;max-width:88ch}}
.ugatit .soft{{color:var(--soft);font-size:.875rem}}
.ugatit .bad{{color:var(--bad)}}.ugatit .note{{color:var(--note)}}
.ugatit p.bad{{border-left:4px solid var(--bad);padding:.2rem .7rem;font-weight:600}}
.ugatit p.note{{border-left:4px solid var(--note);padding:.1rem .7rem}}
.ugatit code{{overflow-wrap:anywhere;font-size:.85em}}
.ugatit .verdict{{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem .8rem}}
.ugatit .verdict b{{font-size:1.7rem;font-variant-numeric:tabular-nums;line-height:1.2;color:var(--ink)}}
.ugatit .verdict.good b{{color:var(--good)}}.ugatit .verdict.bad b{{color:var(--bad)}}
.ugatit .wide{{overflow-x:auto;border:1px solid var(--line);border-radius:6px;background:var(--paper);max-width:100%;
width:fit-content}}
.ugatit .plot{{display:flex;width:fit-content}}.ugatit .plot svg{{flex:none;display:block}}
.ugatit .plot .scale{{position:sticky;left:0;background:var(--paper)}}
.ugatit .scale text{{transform:translateX({LEFT}px)}}
.ugatit .key{{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:0;margin:.4rem 0;list-style:none;font-size:.875rem}}
.ugatit .key li{{margin:0}}
.ugatit .key i{{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em}}
.ugatit .narrow{{display:none}}@media(max-width:1300px){{.ugatit .narrow{{display:list-item}}}}
.ugatit .scale-bar{{height:12px;border-radius:3px;border:1px solid var(--line)}}
.ugatit .ticks{{position:relative;height:1.2rem;font-size:.8rem;color:var(--soft)}}
.ugatit .ticks span{{position:absolute;transform:translateX(-50%)}}.ugatit .ticks span:last-child{{
transform:translateX(-100%)}}
.pixelated img{{image-rendering:pixelated}}
.whole img{{object-fit:contain!important;width:100%!important;height:100%!important}}
#examples .grid-wrap{{height:auto!important;min-height:0!important;max-height:none!important;padding:0;
overflow:visible}}
#examples .grid-container{{grid-template-columns:repeat(6,minmax(0,1fr))!important;gap:6px}}
#examples .thumbnail-item{{min-width:0}}
{STYLE.replace('svg.ranges', '.ugatit svg.ranges')}
"""
