"""Runs: starts the program, follows its events, and returns what it saved."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from ._flags import flags
from ._program import DynoError, program
from ._progress import Event, Progress, shown
from ._results import Run


def bench(target: Optional[str] = None, *, progress: Progress = "auto", **settings: Any) -> Run:
    """Measures a server, or the embedded engine if no target is given: ``dyno bench``.

    A run that ends with status 4 (invalid), 5 (a requirement was not met) or 6 (inconclusive) is returned, too: see
    ``Run.status``. ``DynoError`` is raised only if nothing was saved. Interrupting ends the run early; what was
    recorded is kept.
    """
    return _one(_run("bench", target, settings, progress))


def predict(*, progress: Progress = "auto", **settings: Any) -> Run:
    """The same loads on a twin in virtual time: ``dyno predict``."""
    return _one(_run("predict", None, settings, progress))


def capacity(target: Optional[str] = None, *, progress: Progress = "auto", **settings: Any) -> Run:
    """The highest load that meets ``slo``: ``dyno capacity``. The result is ``Run.summary["search"]``."""
    return _one(_run("capacity", target, settings, progress))


def versus(a: str, b: str, *, progress: Progress = "auto", **settings: Any) -> Tuple[Run, Run]:
    """Two servers level by level in turns: ``dyno bench A --versus B``. For ``compare``."""
    runs = _run("bench", a, dict(settings, versus=b), progress)
    if len(runs) != 2:
        raise DynoError("of the two runs {} was saved".format("one" if runs else "none"))
    return runs[0], runs[1]


def _one(runs: List[Run]) -> Run:
    return runs[0]


def _run(command: str, target: Optional[str], settings: Dict[str, Any], progress: Progress) -> List[Run]:
    typed, secrets = flags(settings)
    arguments = [command, *([target] if target is not None else []), *typed, "--progress=json"]
    events = _Events(shown(progress))
    process = subprocess.Popen(
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **secrets},
        # Interrupted by us alone, once: a notebook interrupts its whole group.
        start_new_session=True,
    )
    try:
        try:
            events.follow(process)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            events.follow(process)
            raise
        status = process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        assert process.stderr is not None
        process.stderr.close()
    if not events.saved:
        raise DynoError(events.errors() or "dyno ended with status {}".format(status), status)
    if events.errors() and progress is not None:
        sys.stderr.write("dyno: {}\n".format(events.errors()))
    return [Run(path, status=status, messages=events.messages) for path in events.saved]


class _Events:
    """What was heard so far."""

    def __init__(self, show: Any) -> None:
        self._show = show
        self.saved: List[Path] = []
        self.messages: List[Tuple[str, str]] = []

    def follow(self, process: "subprocess.Popen[bytes]") -> None:
        """Until the program has closed its end."""
        assert process.stderr is not None
        for raw in process.stderr:
            text = raw.decode("utf-8", "replace").rstrip("\n")
            try:
                event: Event = json.loads(text)
            except ValueError:
                event = {"event": "message", "kind": "error", "text": text}
            self._take(event)
            self._show(event)

    def _take(self, event: Event) -> None:
        if event["event"] == "run_saved":
            self.saved.append(Path(event["directory"]).absolute())
        elif event["event"] == "message":
            self.messages.append((event["kind"], event["text"]))

    def errors(self) -> str:
        return "\n".join(text for kind, text in self.messages if kind == "error")
