"""Dyno from Python: run benchmarks with progress, read runs as tables, show reports, compare and gate.

    import llm_dyno as dyno

    run = dyno.bench("http://localhost:8000", concurrency=[8, 32], requests=400)
    run.levels()                                  # a table, one row per level
    dyno.gate(run, baseline="main", max_regression="5%").passed

Settings are named like the flags of the command line, with underscores: ``input_tokens=512``. Nothing is computed
here: the program does that, and this module calls it and reads its documented files.
"""

from ._comparing import Comparison, Gate, compare, gate, save_baseline
from ._program import DynoError, program, version
from ._results import Chart, Page, Run, load
from ._running import bench, capacity, predict, versus

__all__ = [
    "Chart",
    "Comparison",
    "DynoError",
    "Gate",
    "Page",
    "Run",
    "bench",
    "capacity",
    "compare",
    "gate",
    "load",
    "predict",
    "program",
    "save_baseline",
    "version",
    "versus",
]
