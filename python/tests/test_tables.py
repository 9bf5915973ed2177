"""Tables of a run, by each library: needs pandas, polars and pyarrow. packaging/check installs them."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import llm_dyno as dyno
from llm_dyno import _results

SETTINGS = {"concurrency": [1, 4], "requests": 40, "seed": 1, "report": "none", "progress": None}


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.before = os.getcwd()
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        cls.made = dyno.predict(label="table", **SETTINGS)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.folder.cleanup()

    def test_every_library_reads_the_same(self):
        pandas, polars, arrow = (self.made.levels(name) for name in ("pandas", "polars", "pyarrow"))
        self.assertEqual(list(pandas.columns), polars.columns)
        self.assertEqual(polars.columns, arrow.column_names)
        self.assertEqual(pandas.level.tolist(), ["concurrency 1", "concurrency 4"])
        wanted = self.made.summary["levels"][0]["throughput"]["requests_per_s"]
        for table in (pandas.requests_per_s, polars["requests_per_s"], arrow["requests_per_s"].to_pylist()):
            self.assertAlmostEqual(table[0], wanted)

    def test_requests_are_the_records(self):
        requests = self.made.requests()
        self.assertEqual(len(requests), 80)
        self.assertTrue((requests.outcome == "completed").all())
        self.assertEqual(len(self.made.requests("polars")), 80)
        self.assertEqual(self.made.requests("pyarrow").num_rows, 80)

    def test_pandas_alone_reads_csv(self):
        exact = self.made.requests()
        has_pyarrow, _results._has_pyarrow = _results._has_pyarrow, lambda: False
        try:
            plain = self.made.requests()
        finally:
            _results._has_pyarrow = has_pyarrow
        self.assertEqual(list(plain.columns), list(exact.columns))
        self.assertTrue(((plain.ttft_ms - exact.ttft_ms).abs() < 1e-9).all())
        self.assertEqual(plain.status.isna().all(), exact.status.isna().all())

    def test_a_comparison_is_a_table(self):
        other = dyno.predict(label="other", **dict(SETTINGS, seed=2))
        table = dyno.compare(self.made, other).table()
        self.assertGreater(len(table), 4)

    def test_an_unknown_library_is_named(self):
        with self.assertRaisesRegex(ValueError, "pandas, polars or pyarrow, not 'duck'"):
            self.made.levels("duck")


if __name__ == "__main__":
    unittest.main()
