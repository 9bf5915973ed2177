"""A run that was saved: its summary, tables, page and charts."""

from __future__ import annotations

import base64
import html
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Tuple, Union, cast

from ._flags import flags
from ._program import call

if TYPE_CHECKING:
    from typing import Literal, overload

    import pandas
    import polars
    import pyarrow


def load(run: Union[str, "os.PathLike[str]"] = "latest") -> "Run":
    """A run directory, the name or label of a run, or another tool's result file."""
    return Run(run)


class Run:
    """A run, by its directory or name. A notebook shows its report page, ``print`` its table."""

    def __init__(
        self,
        name: Union[str, "os.PathLike[str]"],
        status: Optional[int] = None,
        messages: Sequence[Tuple[str, str]] = (),
    ) -> None:
        #: Its directory, file or name.
        self.name = os.fspath(name)
        #: The exit status of the program that made it: 0, or 4 (invalid), 5 (a requirement was not met), 6
        #: (inconclusive), 3 (the target was lost), 130 (interrupted); ``None`` if it was loaded.
        self.status = status
        #: What the program said: pairs of kind (note, warning, error, remark) and text.
        self.messages = list(messages)
        self._summary: Optional[Dict[str, Any]] = None

    @property
    def path(self) -> Path:
        """Its directory."""
        return Path(self.name)

    @property
    def summary(self) -> Dict[str, Any]:
        """The content of ``summary.json``, which docs/schema/summary-1.schema.json describes."""
        if self._summary is None:
            saved = self.path / "summary.json"
            written = saved.read_bytes() if saved.is_file() else self.report("json")
            self._summary = cast("Dict[str, Any]", json.loads(written))
        return self._summary

    if TYPE_CHECKING:

        @overload
        def levels(self, library: Literal["pandas"] = ...) -> pandas.DataFrame: ...
        @overload
        def levels(self, library: Literal["polars"]) -> polars.DataFrame: ...
        @overload
        def levels(self, library: Literal["pyarrow"]) -> pyarrow.Table: ...

    def levels(self, library: str = "pandas") -> Any:
        """A row per level, as a table of pandas, polars or pyarrow. The columns are those of ``--format csv``."""
        return table(("report", self.name), library)

    if TYPE_CHECKING:

        @overload
        def requests(self, library: Literal["pandas"] = ...) -> pandas.DataFrame: ...
        @overload
        def requests(self, library: Literal["polars"]) -> polars.DataFrame: ...
        @overload
        def requests(self, library: Literal["pyarrow"]) -> pyarrow.Table: ...

    def requests(self, library: str = "pandas") -> Any:
        """A row per request, warm-up included: the columns of ``--format csv --per-request``."""
        return table(("report", self.name, "--per-request"), library)

    def report(self, format: str, **settings: Any) -> bytes:
        """The report in any format of ``dyno report``."""
        return call(["report", self.name, "--format=" + format, *flags(settings)[0]])

    def page(self, height: int = 800, **settings: Any) -> "Page":
        """The report page, to be shown in a notebook or written to a file."""
        return Page(self.report("html", **settings).decode(), height)

    def charts(self, *names: str, **settings: Any) -> "Chart":
        """The charts, or those that are named (``"requests"``, ``"ttft"``, …), as one SVG picture."""
        chosen = {"charts": list(names)} if names else {}
        return Chart(self.report("svg", **chosen, **settings).decode())

    def __fspath__(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.report("table").decode()

    def __repr__(self) -> str:
        return "Run({!r})".format(self.name)

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()


class Page:
    """A report page: one file that needs no other and no network."""

    def __init__(self, source: str, height: int = 800) -> None:
        #: Its HTML.
        self.html = source
        self.height = height

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes it to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A document of its own, so that neither styles nor scripts of page and notebook meet.
        frame = '<iframe sandbox="allow-scripts" style="width:100%;height:{}px;border:0" srcdoc="{}"></iframe>'
        return frame.format(int(self.height), html.escape(self.html, quote=True))


class Chart:
    """Charts as one SVG picture."""

    def __init__(self, source: str) -> None:
        #: The SVG.
        self.svg = source

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes it to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        # A picture of its own: its styles stay in it, and it is not wider than the cell.
        data = base64.b64encode(self.svg.encode()).decode()
        return '<img alt="charts of the run" style="max-width:100%" src="data:image/svg+xml;base64,{}">'.format(data)


def table(arguments: Sequence[str], library: str) -> Any:
    """What the program writes as Parquet, read by a library; pandas without pyarrow reads CSV."""
    if library not in ("pandas", "polars", "pyarrow"):
        raise ValueError("library: pandas, polars or pyarrow, not {!r}".format(library))
    format = "csv" if library == "pandas" and not _has_pyarrow() else "parquet"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table." + format)
        call([*arguments, "--format=" + format, "--out=" + path])
        if library == "polars":
            import polars

            return polars.read_parquet(path)
        if library == "pyarrow":
            import pyarrow.parquet

            return pyarrow.parquet.read_table(path)
        import pandas

        return pandas.read_csv(path) if format == "csv" else pandas.read_parquet(path, engine="pyarrow")


def _has_pyarrow() -> bool:
    try:
        import pyarrow.parquet
    except ImportError:
        return False
    return pyarrow.parquet is not None
