"""The module against the program: needs nothing but Python, and the program of $LLM_DYNO_PROGRAM or the PATH."""

import base64
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import llm_dyno as dyno
from llm_dyno._flags import REPEATED, flags
from llm_dyno._progress import line, share

QUICK = {"concurrency": [1, 4], "requests": 40, "seed": 1, "report": "none", "progress": None}


class InTemporaryFolder(unittest.TestCase):
    """Runs are written below the working directory."""

    def setUp(self):
        self.before = os.getcwd()
        self.folder = tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()


class Flags(unittest.TestCase):
    def test_settings_become_flags(self):
        words, secrets = flags(
            {
                "concurrency": [8, 32],
                "input_tokens": 512,
                "stop": ["\n", "-x"],
                "extra_body": {"top_k": 20},
                "reset_cache": True,
                "save_text": False,
                "slo": None,
                "out": Path("a b"),
                "api_key": "hush",
            }
        )
        expected = ["--concurrency=8,32", "--input-tokens=512", "--stop=\n", "--stop=-x"]
        expected += ['--extra-body={"top_k": 20}', "--reset-cache", "--out=a b"]
        self.assertEqual((words, secrets), (expected, {"DYNO_API_KEY": "hush"}))

    def test_what_may_be_repeated_is_what_the_program_says(self):
        page = dyno._program.call(["man", "--markdown"]).decode()
        told = re.findall(r"^- `--([a-z-]+)[^\n]*may be repeated", page, re.MULTILINE)
        self.assertEqual({name.replace("-", "_") for name in told} - {"target"}, REPEATED)


class Running(InTemporaryFolder):
    def test_a_run_has_its_summary_table_page_and_charts(self):
        run = dyno.predict(label="mine", **QUICK)
        self.assertEqual((run.status, run.summary["run"]["label"]), (0, "mine"))
        self.assertTrue(run.path.is_absolute() and (run.path / "records.dyno").exists())
        self.assertIn(("note", "seed 1"), run.messages)
        self.assertIn("concurrency 4", str(run))
        self.assertIn("SIMULATED", run.report("markdown", lang="en").decode())
        frame = run._repr_html_()
        self.assertTrue(frame.startswith('<iframe sandbox="allow-scripts"') and "<!doctype" not in frame.lower(), frame[:200])
        self.assertIn("&lt;!doctype html&gt;", frame.lower())
        chart = run.charts("requests", size="600")
        self.assertTrue(chart.svg.startswith("<svg") and 'width="600"' in chart.svg)
        data = chart._repr_html_().split("base64,")[1].split('"')[0]
        self.assertEqual(base64.b64decode(data).decode(), chart.svg)
        run.page().save("page.html")
        self.assertEqual(Path("page.html").read_text(encoding="utf-8"), run.page().html)
        again = dyno.load(run.path)
        self.assertEqual((again.summary, again.status), (run.summary, None))
        self.assertEqual(dyno.load().summary["run"]["id"], run.summary["run"]["id"])

    def test_events_are_heard_in_order(self):
        events = []
        dyno.predict(**dict(QUICK, progress=events.append))
        kinds = [event["event"] for event in events if event["event"] != "message"]
        self.assertEqual((kinds[0], kinds[-2], kinds[-1]), ("run_begins", "run_saved", "run_ends"))
        self.assertEqual(kinds.count("level_ends"), 2)
        ended = next(event for event in events if event["event"] == "level_ends")
        self.assertRegex(line(ended), r"^concurrency 1: 40 completed, [\d.]+ req/s, [\d.]+ tok/s, valid$")

    def test_a_bar_needs_a_plan(self):
        event = {"requests": 30, "elapsed_s": 3.0}
        self.assertEqual(share(event, {"requests_planned": 60, "duration_planned_s": 4.0}), 0.75)
        self.assertEqual(share(event, {"requests_planned": 20, "duration_planned_s": None}), 1.0)
        self.assertIsNone(share(event, {"requests_planned": None, "duration_planned_s": None}))

    def test_what_is_wrong_is_raised_with_its_status(self):
        with self.assertRaises(dyno.DynoError) as raised:
            dyno.bench(rat=1, progress=None)
        self.assertEqual(raised.exception.status, 2)
        self.assertIn("did you mean --rate?", str(raised.exception))
        with self.assertRaises(dyno.DynoError) as raised:
            dyno.bench("http://127.0.0.1:1", progress=None)
        self.assertEqual(raised.exception.status, 3)
        with self.assertRaises(dyno.DynoError) as raised:
            dyno.load("nowhere").summary
        self.assertEqual(raised.exception.status, 2)
        with self.assertRaises(ValueError):
            dyno.bench(progress="often")

    def test_a_requirement_that_is_missed_is_a_result(self):
        run = dyno.predict(slo="ttft.p50<1ms", **QUICK)
        self.assertEqual(run.status, 5)

    def test_an_exception_of_the_caller_ends_the_program(self):
        seen = []

        def fail(event):
            seen.append(event)
            if event["event"] == "level_begins":
                raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            dyno.bench(concurrency=1, duration="60s", progress=fail, report="none")
        self.assertEqual(seen[-1]["event"], "level_begins")

    def test_an_interrupt_ends_the_run_early_and_keeps_it(self):
        def interrupt(event):
            if event["event"] == "progress":
                threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()

        # Python does not listen to it where a shell started the tests in the background.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            dyno.bench(concurrency=1, duration="60s", progress=interrupt, report="none", out="run")
        self.assertLess(time.monotonic() - begun, 40)
        summary = dyno.load("run").summary
        self.assertEqual(summary["levels"][0]["ending"], "interrupted")
        self.assertGreater(summary["levels"][0]["requests"]["completed"], 0)

    def test_a_key_is_not_on_the_command_line(self):
        lines = []

        def look(event):
            if event["event"] == "level_begins":
                for path in Path("/proc").glob("[0-9]*/cmdline"):
                    try:
                        lines.append(path.read_bytes())
                    except OSError:
                        pass  # It has ended.

        dyno.bench(concurrency=1, requests=3, api_key="kept-from-ps", report="none", progress=look)
        self.assertTrue(any(b"--requests=3" in line for line in lines))
        self.assertFalse(any(b"kept-from-ps" in line for line in lines))


class Comparing(InTemporaryFolder):
    def test_comparisons_and_gates_have_answers(self):
        settings = dict(QUICK, repeat=2, requests=100)
        a = dyno.predict(**dict(settings, label="a"))
        b = dyno.predict(**dict(settings, label="b", seed=2))
        compared = dyno.compare(a, b)
        self.assertEqual([side["name"] for side in compared.data["sides"]], ["a", "b"])
        self.assertIn("concurrency 4", str(compared))
        self.assertIn("<iframe", compared._repr_html_())
        gate = dyno.gate(b, baseline=a, max_regression="30%", metric=["requests_per_s", "ttft_mean"])
        self.assertEqual((gate.outcome, gate.passed, len(gate.checks)), ("pass", True, 4))
        self.assertIn("pass: b against a", str(gate))
        self.assertIn("✅", gate._repr_markdown_())
        dyno.save_baseline("main", a)
        slow = dyno.predict(**dict(settings, label="slow", output_tokens=200, repeat=3))
        self.assertEqual(dyno.gate(slow, baseline="main", max_regression="1%").outcome, "inconclusive")


class Program(unittest.TestCase):
    def test_python_runs_it(self):
        folder = str(Path(dyno.__file__).resolve().parents[1])
        environment = dict(os.environ, PYTHONPATH=folder, LLM_DYNO_PROGRAM=dyno.program())
        told = subprocess.run([sys.executable, "-m", "llm_dyno", "--version"], stdout=subprocess.PIPE, env=environment, check=True)
        self.assertEqual(told.stdout.decode().split(), ["dyno", dyno.version()])


if __name__ == "__main__":
    unittest.main()
