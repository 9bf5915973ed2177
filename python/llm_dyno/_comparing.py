"""Comparisons and gates of saved runs."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Union, cast

from ._flags import flags
from ._program import call, call_with_status
from ._results import Chart, Page, table

#: A run, or its directory, name or file.
Named = Union[str, "os.PathLike[str]"]

#: Exit statuses with a result: fine, a requirement was not met, inconclusive.
ANSWERS = {0: "pass", 5: "fail", 6: "inconclusive"}


def compare(*runs: Named, **settings: Any) -> "Comparison":
    """Tests which differences of two or more runs are real: ``dyno compare``. The first is the reference."""
    return Comparison([os.fspath(run) for run in runs], flags(settings)[0])


class Comparison:
    """A comparison. A notebook shows its page, ``print`` its table."""

    def __init__(self, runs: List[str], typed: List[str]) -> None:
        self._arguments = ["compare", *runs, *typed]
        self.data: Dict[str, Any]
        #: What ``--format json`` has, and the exit status: 6 if no load is common to the runs.
        self.data, self.status = {}, 0
        written, self.status = call_with_status([*self._arguments, "--format=json"], tuple(ANSWERS))
        self.data = cast("Dict[str, Any]", json.loads(written))

    def report(self, format: str, **settings: Any) -> bytes:
        """The comparison in any format of ``dyno compare``."""
        return call([*self._arguments, "--format=" + format, *flags(settings)[0]], tuple(ANSWERS))

    def table(self, library: str = "pandas") -> Any:
        """A row per load and metric, as a table of pandas, polars or pyarrow."""
        return table(self._arguments, library)

    def page(self, height: int = 800, **settings: Any) -> Page:
        """The comparison as a page."""
        return Page(self.report("html", **settings).decode(), height)

    def charts(self, *names: str, **settings: Any) -> Chart:
        """The curves of all runs in one SVG picture."""
        chosen = {"charts": list(names)} if names else {}
        return Chart(self.report("svg", **chosen, **settings).decode())

    def __str__(self) -> str:
        return self.report("table").decode()

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()


def gate(run: Named = "latest", *, baseline: Named, max_regression: str, **settings: Any) -> "Gate":
    """Passes or fails a run against a baseline, another run or a file: ``dyno gate``."""
    typed, _ = flags(dict(settings, baseline=os.fspath(baseline), max_regression=max_regression))
    return Gate(["gate", os.fspath(run), *typed])


class Gate:
    """The outcome of a gate. A notebook shows its checks, ``print`` its text."""

    def __init__(self, arguments: List[str]) -> None:
        self._arguments = arguments
        written, self.status = call_with_status([*arguments, "--json"], tuple(ANSWERS))
        #: What ``--json`` has: ``checks`` with values, changes and intervals, among others.
        self.data: Dict[str, Any] = json.loads(written)

    @property
    def outcome(self) -> str:
        """``"pass"``, ``"fail"`` or ``"inconclusive"``."""
        return ANSWERS[self.status]

    @property
    def passed(self) -> bool:
        """Every check is within the limit. An inconclusive gate has not passed, and has not failed."""
        return self.status == 0

    @property
    def checks(self) -> List[Dict[str, Any]]:
        """A mapping for each load and metric."""
        return cast("List[Dict[str, Any]]", self.data["checks"])

    def __str__(self) -> str:
        return call(self._arguments, tuple(ANSWERS)).decode()

    def __repr__(self) -> str:
        return "<Gate: {}>".format(self.outcome)

    def _repr_markdown_(self) -> str:
        return call([*self._arguments, "--github"], tuple(ANSWERS)).decode()


def save_baseline(name: str, run: Named = "latest", **settings: Any) -> None:
    """Saves a run as a baseline: ``dyno baseline save``."""
    call(["baseline", "save", name, os.fspath(run), *flags(settings)[0]])
