"""Shows the events of a run: a bar in a notebook, a line on a terminal, nothing elsewhere."""

from __future__ import annotations

import html
import importlib
import sys
from typing import Any, Callable, Dict, List, Optional, Union

#: An event of a run: https://… docs/reference/progress.md describes its keys.
Event = Dict[str, Any]
#: ``"auto"``, nothing, or what is called with each event.
Progress = Union[str, None, Callable[[Event], None]]


def shown(progress: Progress) -> Callable[[Event], None]:
    """What to call with each event."""
    if callable(progress):
        return progress
    if progress is None:
        return lambda event: None
    if progress != "auto":
        raise ValueError('progress: "auto", None or a function of an event, not {!r}'.format(progress))
    if _in_notebook():
        return _Notebook()
    return _Terminal() if sys.stderr.isatty() else _Warnings()


def _in_notebook() -> bool:
    """Whether outputs of this process are shown by a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def line(event: Event) -> Optional[str]:
    """An event as one line, if there is something to see in it."""
    kind = event.get("event")
    if kind == "level_begins":
        return "{}: …".format(event["label"])
    if kind not in ("progress", "level_ends"):
        return None
    told = ["{} completed".format(event["completed"])]
    told += ["{} {}".format(event[key], key) for key in ("failed", "shed") if event[key]]
    rates = (("requests_per_s", "req/s"), ("output_tokens_per_s", "tok/s"))
    told += ["{:.3g} {}".format(event[key], unit) for key, unit in rates if event[key] is not None]
    if kind == "progress" and event["run_left_s"] is not None:
        told.append("{:.0f} s left".format(event["run_left_s"]))
    if kind == "level_ends" and event["verdict_so_far"]:
        told.append(event["verdict_so_far"])
    return "{}: {}".format(event["label"], ", ".join(told))


def share(event: Event, begun: Event) -> Optional[float]:
    """How much of a level is done, if it is known when it ends."""
    shares = []
    for done, planned in (("requests", "requests_planned"), ("elapsed_s", "duration_planned_s")):
        if begun.get(planned) and event.get(done) is not None:
            shares.append(event[done] / begun[planned])
    return min(max(shares), 1.0) if shares else None


class _Warnings:
    """Warnings, on stderr. Errors are raised, or are in the messages of the run."""

    def __call__(self, event: Event) -> None:
        if event.get("event") == "message" and event["kind"] == "warning":
            sys.stderr.write("dyno: {}\n".format(event["text"]))


class _Terminal(_Warnings):
    """A line that is drawn again; one that stays for each level that has ended."""

    def __call__(self, event: Event) -> None:
        told = line(event)
        if told is not None:
            end = "\n" if event["event"] == "level_ends" else ""
            sys.stderr.write("\r\x1b[K" + told[:200] + end)
            sys.stderr.flush()
        super().__call__(event)


class _Notebook:
    """A bar and a line for each level, in one output that is updated."""

    def __init__(self) -> None:
        shown: Any = importlib.import_module("IPython.display")
        self._html = shown.HTML
        self._ended: List[str] = []
        self._begun: Event = {}
        self._handle = shown.display(shown.HTML(""), display_id=True)

    def __call__(self, event: Event) -> None:
        kind = event.get("event")
        if kind == "level_begins":
            self._begun = event
        told = line(event)
        if kind == "level_ends":
            self._ended.append(self._row(told or "", 1.0))
            told = None
        elif kind == "message" and event["kind"] == "warning":
            self._ended.append("<div><b>{}</b>: {}</div>".format(event["kind"], html.escape(event["text"])))
        elif told is None:
            return
        rows = list(self._ended)
        if told is not None:
            rows.append(self._row(told, share(event, self._begun)))
        self._handle.update(self._html("".join(rows)))

    @staticmethod
    def _row(told: str, done: Optional[float]) -> str:
        value = "" if done is None else ' value="{:.3f}"'.format(done)
        bar = '<progress max="1"{} style="width:10em;vertical-align:middle"></progress>'.format(value)
        return '<div style="font-family:monospace">{} {}</div>'.format(bar, html.escape(told))
