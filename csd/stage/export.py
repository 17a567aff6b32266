"""A race as one page that needs nobody: no network, no server. The stage itself draws it; see assets/stage.js.

All text of prompts, models and files stands in it as text. The log stands in an element that the browser does not run,
in characters that cannot close it, and the page's own policy allows its one script and no address.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from html import escape

from csd import theme
from csd.record import metrics
from csd.record.recording import Recording
from csd.record.trace import Header, Trace
from csd.stage import log as stage

LIMIT = 2 * 2**20  # bytes that a race of 512 tokens in three lanes may take

_CSS = f"""
:root {{ color-scheme: light; --ground: {theme.LIGHT_GROUND}; --ink: {theme.LIGHT_INK}; }}
:root.dark {{ color-scheme: dark; --ground: {theme.DARK_GROUND}; --ink: {theme.DARK_INK}; }}
body {{ margin: 0; padding: 10px 18px 24px; background: var(--ground); color: var(--ink); font: 15px/1.4 system-ui, sans-serif;
  --cs-text-height: clamp(150px, 82vh - 400px, 620px); }}
body > header {{ display: flex; align-items: baseline; gap: 2px 16px; margin-bottom: 8px; }}
h1 {{ font-size: 21px; margin: 0; }}
h2 {{ font-size: 17px; margin: 18px 0 4px; }}
body > header p {{ margin: 0; }}
body > p {{ margin: 0 0 6px; }}
#ground {{ margin-left: auto; font: inherit; color: inherit; background: none; border: 1px solid currentColor; border-radius: 6px;
  padding: 2px 10px; cursor: pointer; }}
#prompt {{ margin: 0; padding: 8px 10px; border: 1px solid currentColor; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere;
  unicode-bidi: plaintext; max-height: 30vh; overflow: auto; font: inherit; }}
.measured {{ overflow-x: auto; }}
.measured table {{ border-collapse: collapse; }}
.measured :is(th, td) {{ text-align: left; vertical-align: baseline; padding: 3px 16px 3px 0; border-bottom: 1px solid color-mix(in srgb, currentColor 30%, transparent);
  font-variant-numeric: tabular-nums; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
"""

_START = """
const ground = document.getElementById("ground");
function darken(on) {
  document.documentElement.classList.toggle("dark", on);
  ground.textContent = on ? "Light" : "Dark";
}
darken(matchMedia("(prefers-color-scheme: dark)").matches);
ground.addEventListener("click", () => darken(!document.documentElement.classList.contains("dark")));
const stage = CascadeStage.mount(document.querySelector(".cascade-stage"));
stage.update({ race: "export", log: document.getElementById("log").textContent });
"""


def page(recording: Recording) -> str:
    """The whole file; plain ASCII but for the words of the prompt, which stand as entities where they must."""
    traces = recording.traces
    title = recording.title or title_of(traces[0].header.text)
    script = _script()
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{seal}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    when = ", ".join(filter(None, (recording.kind, recording.date, recording.machine)))
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{_html(title)} - Cascade Speculative Drafting</title>\n",
            f"<style>{stage.CSS}{_CSS}</style>\n</head>\n<body>\n",
            f'<header><h1><bdi>{_html(title)}</bdi></h1><p><bdi>{_html(when)}</bdi></p><button type="button" id="ground">Dark</button></header>\n',
            f"<p><bdi>{_html(recording.note)}</bdi></p>\n" if recording.note else "",
            f"<main>{stage.HTML_TEMPLATE}\n<noscript><p>The replay needs JavaScript. What was measured stands below.</p></noscript></main>\n",
            f'<h2>Prompt</h2>\n<pre id="prompt">\n{_html(traces[0].header.text)}</pre>\n',
            f"<h2>What was measured</h2>\n{_verdict(traces)}\n",
            f"<h2>Settings</h2>\n{_settings(recording)}\n",
            f'<script type="application/x-ndjson" id="log">{_inert(stage.log_of(traces, "export", play=True))}</script>\n',
            f"<script>{script}</script>\n</body>\n</html>\n",
        )
    )


def title_of(prompt: str) -> str:
    """How the prompt begins, in one line."""
    words = " ".join(prompt.split())
    return words[:60] + ("…" if len(words) > 60 else "") or "A race"


def _script() -> str:
    """The stage and what sets it off. Line ends as the browser reads them, since the policy names the script by its hash."""
    text = (stage.ASSETS / "stage.js").read_text(encoding="utf-8") + _START
    return re.sub(r"[^\x00-\x7f]", lambda sign: _escaped(sign[0]), text)


def _inert(log: str) -> str:
    """The log in printable ASCII without <, > and &: the same JSON, in which nothing can end a script element."""
    return re.sub(r"[^\n\x20-\x7e]|[<>&]", lambda sign: _escaped(sign[0]), log)


def _escaped(sign: str) -> str:
    """A character as the escapes that JSON and JavaScript share, one per UTF-16 unit; half a pair stays one."""
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _html(text: str) -> str:
    """Any text as markup that shows it: control characters and halves of surrogate pairs become U+FFFD."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", whole.replace("\r\n", "\n")))


def _verdict(traces: Sequence[Trace]) -> str:
    said = stage.verdict(traces)
    rows = []
    for trace, lane in zip(traces, said["lanes"]):
        words = " ".join(filter(None, (_sentence(lane["badge"]), _sentence(lane["speed"]), *lane["notes"])))
        numbers = (
            str(len(trace.tokens)),
            _number(metrics.speed(trace)),
            _number(metrics.speed_with_prefill(trace)),
            _number(metrics.mat(trace), 2),
        )
        cells = "".join(f"<td>{_html(cell)}</td>" for cell in (*numbers, words))
        rows.append(f'<tr><th scope="row">{_html(trace.header.title)}</th>{cells}</tr>')
    heads = ("lane", "tokens", "tokens/s", "with prefill", "tokens per target run", "verdict")
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    notes = "".join(f"<p>{_html(note)}</p>" for note in said["notes"])
    return f'<div class="measured"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>{notes}'


def _settings(recording: Recording) -> str:
    header = recording.traces[0].header
    pairs = {
        "family": header.family,
        "models": "; ".join(_model(level) for level in header.levels if level.level),
        "decoding": decoding(header),
        "device": f"{header.device}, {header.dtype}",
        "machine": recording.machine,
        "recorded": recording.date,
        "versions": ", ".join(f"{name} {number}" for name, number in header.versions.items()),
    }
    rows = (f"<dt>{name}</dt><dd>{_html(text)}</dd>" for name, text in pairs.items() if text)
    return f"<dl>{''.join(rows)}</dl>"


def decoding(header: Header) -> str:
    """How the text was chosen, such as "greedy, at most 128 new tokens"."""
    if header.rule == "greedy":
        how = "greedy"
    else:
        filters = [
            f"top-k {header.top_k}" if header.top_k else "",
            f"top-p {header.top_p:g}" if header.top_p < 1 else "",
        ]
        knobs = ", ".join(filter(None, (f"temperature {header.temperature:g}", *filters, f"seed {header.seed}")))
        how = f"sampled ({header.rule}), {knobs}"
    return f"{how}, at most {header.max_new} new tokens" + ("" if header.eos else ", whatever ends the text")


def _model(level) -> str:
    size = f", {level.parameters / 1e6:,.1f} M parameters" if level.parameters else ""
    return f"{level.name}{size}" + (f" ({level.model})" if level.model and level.model != level.name else "")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _number(value: float, digits: int = 1) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"
