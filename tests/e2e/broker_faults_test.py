"""Real brokers that are stopped, killed and restarted in the middle of a trial, and an exporter that answers late only under
load: each such trial is invalid with that reason, never sustained, and the sweep goes on."""
import http.server as http_server
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import SHORT_TRIALS, Bench, Kafka, describe, http, wait_for  # noqa: E402

SPEC = {"cluster": "local", "message_bytes": [10000], "margin": 0.25, "strategy": "bisection", "trial": SHORT_TRIALS,
        "producers": {"max": 32, "rate_each": {"messages_per_s": 100}}}


class Broker:
    """One broker's process, found in the file that local-kafka keeps."""

    def __init__(self, kafka, number):
        rows = [line.split() for line in (pathlib.Path(kafka.data) / "nodes").read_text().splitlines()]
        self.pid = next(int(row[2]) for row in rows if row[0] == str(number))
        root = pathlib.Path(f"/proc/{self.pid}")
        self.command = root.joinpath("cmdline").read_bytes().decode().rstrip("\0").split("\0")
        self.log = pathlib.Path(kafka.data) / f"logs/node-{number}.log"

    def send(self, number):
        os.kill(self.pid, number)

    def start_again(self):
        """As it was started; local-kafka finds it by the mark on its command line."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


class LateUnderLoad:
    """Stands before an exporter and answers after `late_s` while the broker takes more than 0.2 MB/s."""

    def __init__(self, url, late_s):
        self.url, self.late_s, self.last, self.rate = url, late_s, None, 0.0
        outer = self

        class Handler(http_server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = outer.page()
                if outer.rate > 2e5:
                    time.sleep(outer.late_s)
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "text/plain; version=0.0.4")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # the controller did not wait

            def log_message(self, *_):
                pass

        self.server = http_server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/metrics"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def page(self):
        body = http("GET", self.url, timeout=5).body
        for line in body.decode().splitlines():
            if line.startswith("kafka_server_brokertopicmetrics_count") and 'name="BytesInPerSec"' in line \
                    and "topic=" not in line:
                now, count = time.monotonic(), float(line.rsplit(" ", 1)[1])
                if self.last and now - self.last[0] > 0.2:
                    self.rate = (count - self.last[1]) / (now - self.last[0])
                if not self.last or now - self.last[0] > 0.2:
                    self.last = (now, count)
        return body


class BrokerFaults(unittest.TestCase):
    def in_next_window(self, bench, sweep_id, after):
        """Waits until a later trial of the search measures, and a little more; its number."""
        def measuring():
            current = bench.sweep(sweep_id)["progress"].get("current") or {}
            return current.get("trial") if current.get("phase") == "measuring" and current.get("trial", 0) > after else None
        trial = wait_for("a trial measures", measuring, 120)
        time.sleep(3)
        return trial

    def test_stopped_killed_restarted(self):
        with Kafka("--profile", "io-bound") as kafka, Bench(kafka.toml) as bench:
            sweep_id = bench.start(SPEC)
            broker = Broker(kafka, 2)
            stopped = self.in_next_window(bench, sweep_id, 0)
            broker.send(signal.SIGSTOP)
            time.sleep(10)
            broker.send(signal.SIGCONT)
            killed = self.in_next_window(bench, sweep_id, stopped)
            broker.send(signal.SIGKILL)
            time.sleep(3)
            broker.start_again()
            sweep = bench.wait_for_end(sweep_id, 500)
            print(describe(bench, sweep_id), f"\n  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)
            self.assertEqual(sweep["state"], "succeeded", sweep["state_reason"])
            trials = {t["trial"]: t for t in bench.trials(sweep_id)}
            for number in (stopped, killed):
                self.assertEqual(trials[number]["verdict"], "invalid", trials[number])
                self.assertIn("broker 2", " ".join(trials[number]["reasons"]))
            self.assertEqual(bench.points(sweep_id)[0]["state"], "done")

    def test_exporter_late_under_load(self):
        with Kafka("--profile", "io-bound") as kafka:
            late = LateUnderLoad(kafka.metrics[2], late_s=2.5)
            toml = kafka.toml.replace(kafka.metrics[2], late.address)
            self.assertIn(late.address, toml)
            toml = toml.replace("[[clusters]]", "[[clusters]]\nscrape_timeout_ms = 1000", 1)
            with Bench(toml) as bench:
                sweep_id = bench.start(SPEC)
                sweep = bench.wait_for_end(sweep_id, 300)
                print(describe(bench, sweep_id), f"\n  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)
                self.assertEqual(sweep["state"], "failed")
                verdicts = {t["verdict"] for t in bench.trials(sweep_id)}
                self.assertEqual(verdicts, {"invalid"})
                reasons = " ".join(" ".join(t["reasons"]) for t in bench.trials(sweep_id))
                self.assertIn("scrapes of broker 2 are missing", reasons)


if __name__ == "__main__":
    unittest.main(verbosity=2)
