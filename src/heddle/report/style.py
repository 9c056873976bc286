"""The look of the report, in light and dark. A test checks the contrast of every colour that carries text or a line."""

from __future__ import annotations

from typing import Final

# One colour per policy: told apart in both modes; beyond these they repeat, and the line is drawn dashed.
LIGHT: Final = {
    "page": "#ffffff", "panel": "#f5f6f8", "text": "#1b1f24", "quiet": "#57606a", "rule": "#d5d9de",
    "good": "#116329", "bad": "#b42318",
    "c0": "#5b6470", "c1": "#0b62b0", "c2": "#b3430b", "c3": "#00734f", "c4": "#8a3ea8", "c5": "#8a5a00",
    "c6": "#b8145f", "c7": "#2b6777",
}  # fmt: skip
DARK: Final = {
    "page": "#14171c", "panel": "#1d2229", "text": "#e8eaed", "quiet": "#a5adb8", "rule": "#3a414b",
    "good": "#6fd28b", "bad": "#ff9a8c",
    "c0": "#aab2bd", "c1": "#6db3f2", "c2": "#f59a6b", "c3": "#4fcf9f", "c4": "#cf9bea", "c5": "#e6b84a",
    "c6": "#f58ab8", "c7": "#86c9d9",
}  # fmt: skip
N_SHADES: Final = 10  # of a heat map, from hardly to all of the colour
N_COLOURS: Final = sum(name.startswith("c") for name in LIGHT)

# What stands in a chart.
_CHART_RULES: Final = """
svg text{font-size:12px;fill:var(--quiet)}svg text.name{fill:var(--text);
 paint-order:stroke;stroke:var(--page);stroke-width:3px}svg .note{fill:var(--quiet)}
svg .none{fill:var(--bad);font-weight:600}
.grid{stroke:var(--rule);stroke-width:.7}.axis{stroke:var(--quiet);stroke-width:1}
.guide{stroke:var(--quiet);stroke-width:1;stroke-dasharray:2 3}
.line{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}.dashed{stroke-dasharray:5 3}
.band{fill:var(--c);opacity:.16}.bar{fill:var(--c);opacity:.55}.whisker{stroke:var(--text);stroke-width:1.4;fill:none}
"""
_RULES: Final = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:1160px;padding:16px;background:var(--page);color:var(--text);
 font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{overflow-wrap:anywhere;font-size:1.5rem;line-height:1.25;margin:.4em 0}h2{font-size:1.2rem;margin:2em 0 .4em}
h3{font-size:1rem;margin:1em 0 .3em}
p{margin:.5em 0}.quiet,figcaption,small{color:var(--quiet)}figcaption,small{font-size:.85rem}
.verdict{font-size:1.15rem;max-width:46em}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px;margin:16px 0}
.tile{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:12px 16px}
.tile b{display:block;font-size:1.8rem;line-height:1.2}.tile span{color:var(--quiet);font-size:.9rem;display:block}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:20px}
figure{margin:0;max-width:520px;display:flex;flex-direction:column}figure h3{margin:.2em 0}
figure .key{flex:1;align-content:flex-start}
svg{width:100%;height:auto;display:block}
.legend{display:flex;flex-wrap:wrap;gap:6px;margin:8px 0}
.legend button{font:inherit;font-size:.85rem;color:var(--text);background:var(--page);border:1px solid var(--rule);
 border-radius:6px;padding:4px 10px;cursor:pointer;max-width:100%;overflow-wrap:anywhere;text-align:left}
.legend button[aria-pressed=false]{color:var(--quiet);text-decoration:line-through}
.legend i{display:inline-block;width:18px;border-top:3px solid var(--c);vertical-align:middle;margin-right:7px}
.legend i.again{border-top-style:dashed}
.key{display:flex;flex-wrap:wrap;gap:2px 14px;font-size:.85rem;margin:0}.key i{display:inline-block;width:12px;
 height:12px;background:var(--c);opacity:.8;vertical-align:-1px;margin-right:5px}
.q .band{opacity:.5}.q .line{stroke-width:.8}
.heat{fill:var(--c2)}svg text.cell{fill:var(--text)}
.ramp i{width:16px;margin:0}.ramp{align-items:center;gap:2px 8px}
.life rect{fill:var(--c)}.life .part{opacity:.45}.key .part i{opacity:.45}.run{--c:var(--c1)}.start{--c:var(--rule)}
.said td:last-child{text-align:left;white-space:normal}.said th:last-child{text-align:left}
table.text td:last-child{white-space:normal;min-width:9em}table.text td.words:last-child{min-width:15em}
.findings th:first-child{min-width:0;width:6.5em;white-space:nowrap;overflow-wrap:normal}
.findings .low{color:var(--quiet)}
.titled{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:0 16px}
.filter{font:inherit;font-size:.88rem;color:var(--text);background:var(--page);border:1px solid var(--quiet);
 border-radius:6px;padding:3px 9px;width:min(100%,15em)}.filter::placeholder{color:var(--quiet);opacity:1}
.tall{max-height:440px;overflow-y:auto}.tall thead th{position:sticky;top:0;z-index:1}
.tall thead th:first-child{z-index:2}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:8px;
 background:linear-gradient(to right,var(--page) 50%,transparent) left/60px 100% no-repeat local,
 linear-gradient(to left,var(--page) 50%,transparent) right/60px 100% no-repeat local,
 linear-gradient(to right,var(--quiet),transparent) left/9px 100% no-repeat scroll,
 linear-gradient(to left,var(--quiet),transparent) right/9px 100% no-repeat scroll}
.contents{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:.88rem;margin:0 0 10px}.contents a{color:var(--quiet)}
.numbers label{display:block;font-size:.88rem;color:var(--quiet);margin:0 0 6px}
.numbers:not(:has(:checked)) .more{display:none}.numbers thead th{white-space:normal}
table{border-collapse:collapse;width:100%;font-size:.88rem}
th,td{padding:7px 10px;text-align:right;vertical-align:top;border-bottom:1px solid var(--rule);white-space:nowrap}
tr:last-child>*{border-bottom:0}
th:first-child{text-align:left;position:sticky;left:0;background:var(--page);white-space:normal;overflow-wrap:anywhere;
 min-width:min(210px,34vw);max-width:230px}
thead th{background:var(--panel)!important;vertical-align:bottom;min-width:5.5em}.numbers thead th{min-width:0}
th.words,td.words{text-align:left}.scroll+.figures{margin-top:20px}
thead button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;cursor:pointer;
 text-align:inherit;white-space:normal}
thead button::after{content:" ↕";color:var(--quiet)}th[aria-sort=ascending] button::after{content:" ↑"}
th[aria-sort=descending] button::after{content:" ↓"}
.numbers th,.numbers td{padding:7px 4px}.numbers th:first-child{min-width:min(140px,34vw);max-width:190px}
td small{display:block}td span{color:var(--quiet)}.better{color:var(--good)}.worse{color:var(--bad)}
button:focus-visible,summary:focus-visible,input:focus-visible{outline:2px solid var(--c1);outline-offset:2px}
summary{cursor:pointer;margin:12px 0}
pre{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:12px;
 white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px}
dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
@media print{.numbers .more{display:block!important}.numbers label{display:none}
 .legend button{border:0}.scroll{overflow:visible;max-height:none}.filter{display:none}}
"""

# Sorting a table by a column, filtering its rows, and hiding a policy in every figure.
SCRIPT: Final = """
document.querySelectorAll("thead button").forEach(b=>b.onclick=()=>{
 const th=b.parentNode,i=th.cellIndex,body=th.closest("table").tBodies[0],up=th.getAttribute("aria-sort")!="ascending";
 th.parentNode.querySelectorAll("th").forEach(h=>h.removeAttribute("aria-sort"));
 th.setAttribute("aria-sort",up?"ascending":"descending");
 const key=r=>r.cells[i].dataset.v,val=r=>{const k=key(r);return k===""?Infinity:i&&!isNaN(k)?+k:k};
 [...body.rows].sort((x,y)=>{const a=val(x),b=val(y);
  if(a===b)return 0;if(a===Infinity)return 1;if(b===Infinity)return -1;return (a<b?-1:1)*(up?1:-1)})
 .forEach(r=>body.append(r))});
document.querySelectorAll(".filter").forEach(f=>f.oninput=()=>{
 const want=f.value.trim().toLowerCase();
 f.parentNode.nextElementSibling.querySelectorAll("tbody tr").forEach(r=>{
  r.hidden=!r.textContent.toLowerCase().includes(want)})});
document.querySelectorAll(".legend button").forEach(b=>b.onclick=()=>{
 const off=document.body.classList.toggle("hide"+b.dataset.s);
 document.querySelectorAll(`.legend button[data-s="${b.dataset.s}"]`).forEach(o=>o.setAttribute("aria-pressed",!off))});
"""


def style_sheet(n_slots: int) -> str:
    """The page's style, with a colour for each of `n_slots` policies."""
    shades = (
        f".h{shade},.key i.h{shade}{{fill:var(--c1);background:var(--c1);opacity:{(shade + 1) / N_SHADES:.2g}}}"
        for shade in range(N_SHADES)
    )
    return chart_style(n_slots) + _RULES + "\n".join(shades)


def chart_style(n_slots: int) -> str:
    """The part of it that a chart needs to stand alone."""
    light = ";".join(f"--{name}:{colour}" for name, colour in LIGHT.items())
    dark = ";".join(f"--{name}:{colour}" for name, colour in DARK.items())
    modes = f":root{{color-scheme:light dark;{light}}}\n@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    slots = []
    for slot in range(n_slots):
        slots.append(f".s{slot}{{--c:var(--c{slot % N_COLOURS})}}.hide{slot} .s.s{slot}{{display:none}}")
        if repeats(slot):
            slots.append(f".s{slot} .line{{stroke-dasharray:8 2}}")
    slots += [f".q{slot},.p{slot}{{--c:var(--c{(slot + 1) % N_COLOURS})}}" for slot in range(N_COLOURS)]
    return modes + _CHART_RULES + "\n".join(slots)


def repeats(slot: int) -> bool:
    """Whether this policy's colour is another's too."""
    return slot >= N_COLOURS
