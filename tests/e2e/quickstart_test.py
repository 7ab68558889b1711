"""deploy/quickstart as a newcomer runs it: it finds the true limits, says so in the lines it promises, runs twice, and
leaves nothing running."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import BIN, SOURCE, http, wait_for  # noqa: E402

QUICKSTART = SOURCE / "deploy/quickstart"
SEEDS = [int(s) for s in os.environ.get("BRINK_SEEDS", "1").split(",")]
SIZES = [100, 1000, 10000, 100000]


def processes():
    """Command lines of brink's own processes that run now."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], text=True, capture_output=True, check=True).stdout
    return [line for line in listed.splitlines() if re.search(rf"{BIN}/brink", line)]


class Quickstart(unittest.TestCase):
    def setUp(self):
        self.assertEqual(processes(), [])

    def run_it(self, *options):
        begun = time.monotonic()
        done = subprocess.run([QUICKSTART, "--bin", BIN, *options], text=True, timeout=400, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout, time.monotonic() - begun

    def check_kept_and_stop(self, out):
        stop = re.search(r"^  (kill [\d ]+)$", out, re.M)[1]
        try:
            self.assertEqual(http("GET", re.search(r"^dashboard: (\S+)", out, re.M)[1]).status, 200)
        finally:
            subprocess.run(stop, shell=True, check=True)
        wait_for("everything ended", lambda: not processes(), 20)

    def test_truth_lies_in_every_bracket(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                # The first run is told to keep everything; the others clean up by themselves.
                keep = ["--keep"] if seed == SEEDS[0] else []
                out, took_s = self.run_it("--seed", str(seed), *keep)
                if keep:
                    self.check_kept_and_stop(out)
                self.assertEqual(processes(), [], "it stops what it started")
                truth = {int(b): float(r) for b, r in re.findall(r"^truth: (\d+) ([\d.]+)$", out, re.M)}
                self.assertEqual(sorted(truth), SIZES)
                path = pathlib.Path(re.search(r"^csv: (.+)$", out, re.M)[1])
                self.assertRegex(out, r"(?m)^dashboard: http://127\.0\.0\.1:\d+/")
                rows = {int(r["message_bytes"]): r for r in csv.DictReader(path.open(newline=""))}
                self.assertEqual(sorted(rows), SIZES)
                self.assertIn("</svg>", path.with_name("curve.svg").read_text())
                for size, true_rate in truth.items():
                    lower, upper = (float(rows[size][f"{end}_msgs_per_s"]) for end in ("lower", "upper"))
                    print(f"  measured seed {seed}: {size:6} B bracket {lower:.0f} to {upper:.0f}, truth {true_rate:.0f} msg/s "
                          f"({(true_rate - lower) / (upper - lower):.2f} of the way), {rows[size]['trials']} trials", flush=True)
                    self.assertEqual(rows[size]["limited_by"], "io_idle")
                    self.assertLessEqual(0.97 * lower, true_rate)
                    self.assertLessEqual(true_rate, 1.03 * upper)
                print(f"  quickstart with seed {seed} in {took_s:.0f} s", flush=True)

    def test_a_signal_ends_everything_at_once(self):
        process = subprocess.Popen([QUICKSTART, "--bin", BIN], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            for line in process.stdout:
                if line.startswith("dashboard: "):
                    page = http("GET", line.split()[1])
                    self.assertEqual(page.status, 200)
                    self.assertIn("<html", page.body.decode().lower())
                if line.startswith("trial 1"):
                    break
            process.terminate()
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 143)
        finally:
            process.kill()
        wait_for("everything ended", lambda: not processes(), 5)

    def test_wrong_options_are_refused(self):
        for options, says in ((["--seed", "x"], "whole number"), (["--noise", "much"], "0.002"), (["--kafk"], "--kafk")):
            done = subprocess.run([QUICKSTART, *options], text=True, capture_output=True, timeout=20, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
