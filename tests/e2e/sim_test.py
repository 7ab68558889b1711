"""brink-sim: its limits are its model's own, whoever sends the traffic, and brink finds them.

No Kafka: librdkafka's mock brokers in brink-sim, kcat as a client that knows nothing of brink.
"""
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import BIN, Bench, Program, describe, http, wait_for  # noqa: E402

SHORT = {"warm_up_s": 1, "measure_s": 6, "sub_window_s": 1, "scrape_interval_s": 0.5, "max_extensions": 0}


class Sim:
    def __init__(self, *flags):
        self.flags = flags

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="brink-e2e-sim-", dir="/var/tmp")
        self.program = Program("brink-sim", [BIN / "brink-sim", "--listen", "127.0.0.1:0", *self.flags], self.folder)
        try:
            lines = wait_for("brink-sim starts", self.started, 20)
        except BaseException:
            self.__exit__()
            raise
        self.url = lines["control"]
        self.bootstrap = lines["bootstrap"]
        self.metrics = {b["id"]: b["metrics_url"] for b in http("GET", self.url + "/brokers").json["brokers"]}
        self.toml = http("GET", self.url + "/brinkd.toml").body.decode()
        return self

    def started(self):
        assert self.program.alive(), f"brink-sim ended: {self.program.text()}"
        lines = dict(line.split(": ", 1) for line in self.program.text().splitlines() if ": " in line)
        return lines if "metrics" in lines else None

    def __exit__(self, *_):
        self.program.kill()
        subprocess.run(["rm", "-rf", self.folder], check=False)

    def count(self, broker, series):
        text = http("GET", self.metrics[broker], timeout=5).body.decode()
        return next(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(series))

    def clock_and_idle(self, broker):
        """Seconds of our clock half-way through a scrape, and of the idle meter in it."""
        asked = time.monotonic()
        idle_s = self.count(broker, "kafka_server_KafkaRequestHandlerPool_Count") / 1e9
        return (asked + time.monotonic()) / 2, idle_s

    def messages(self, broker):
        return self.count(broker, 'kafka_server_BrokerTopicMetrics_Count{name="MessagesInPerSec"')

    def truth(self, message_bytes):
        return http("GET", f"{self.url}/truth?message_bytes={message_bytes}").json


def sweep(sim, **fields):
    """Runs a sweep of one size and gives its point."""
    with Bench(sim.toml, agents=2) as bench:
        sweep_id = bench.start({"cluster": "sim", "message_bytes": [1000], "margin": 0.05, "strategy": "guided",
                                "trial": SHORT, **fields})
        ended = bench.wait_for_end(sweep_id, 300)
        print(describe(bench, sweep_id), flush=True)
        assert ended["state"] == "succeeded", ended["state_reason"]
        return bench.points(sweep_id)[0]


class BrinkSim(unittest.TestCase):
    def test_a_client_that_is_not_brink_costs_what_the_model_says(self):
        costs = {"message": 300e-6, "byte": 0.05e-6}
        with Sim("--noise", "0", "--us-per-request", "0", "--us-per-message", "300", "--us-per-byte", "0.05",
                 "--io-threads", "2") as sim:
            self.assertEqual(http("PUT", sim.url + "/topics/t", {"partitions": 3}).status, 201)
            before = {broker: sim.clock_and_idle(broker) for broker in sim.metrics}
            # 2,000 messages of 500 B to each broker in ten portions: 0.3 s of one of its two threads all in all.
            portion = pathlib.Path(sim.folder) / "portion"
            portion.write_text(("x" * 500 + "\n") * 200)
            for _ in range(10):
                for partition in range(3):
                    subprocess.run(["kcat", "-P", "-b", sim.bootstrap, "-t", "t", "-p", str(partition), "-l",
                                    str(portion)], check=True, timeout=30)
            for broker in sim.metrics:
                self.assertEqual(sim.messages(broker), 2000)
                bytes_in = sim.count(broker, 'kafka_server_BrokerTopicMetrics_Count{name="BytesInPerSec"')
                busy_s = (2000 * costs["message"] + bytes_in * costs["byte"]) / 2
                elapsed, idle = (now - then for now, then in zip(sim.clock_and_idle(broker), before[broker]))
                print(f"  measured broker {broker}: busy {elapsed - idle:.4f} s of {elapsed:.2f} s, the model says "
                      f"{busy_s:.4f} s")
                # Clock and meter are not read at the same instant, which is worth some milliseconds.
                self.assertAlmostEqual(elapsed - idle, busy_s, delta=0.03)

    def test_dearer_messages_move_truth_idle_and_boundary_together(self):
        found = {}
        for cost in (400, 800):
            with Sim("--us-per-message", str(cost), "--us-per-byte", "0", "--us-per-request", "0") as sim:
                point = sweep(sim)
                truth = sim.truth(1000)["true_msgs_per_s"]
                self.assertAlmostEqual(truth, 3 * 2 * 0.8 / (cost * 1e-6), delta=1)
                print(f"  measured at {cost} us a message: truth {truth:.0f}, bracket {point['lower_msgs_per_s']:.0f} to "
                      f"{point['upper_msgs_per_s']:.0f} msg/s, idle {point['worst_idle']:.3f}, {point['trials']} trials")
                self.assertEqual(point["limited_by"], "io_idle")
                self.assertLessEqual(0.97 * point["lower_msgs_per_s"], truth)
                self.assertGreaterEqual(1.03 * point["upper_msgs_per_s"], truth)
                found[cost] = point
        self.assertAlmostEqual(found[400]["measured_msgs_per_s"] / found[800]["measured_msgs_per_s"], 2, delta=0.2)

    def test_churn_is_found_where_the_model_has_it(self):
        with Sim("--us-per-message", "400", "--churn-above-busy", "0.5", "--churn-lag-s", "1") as sim:
            point = sweep(sim, margin=0.1, trial={**SHORT, "measure_s": 10})
            print(f"  measured churn past 50 % busy: bracket {point['lower_msgs_per_s']:.0f} to "
                  f"{point['upper_msgs_per_s']:.0f} msg/s, idle {point['worst_idle']:.3f}")
            self.assertEqual(point["limited_by"], "isr_churn")
            self.assertGreater(point["worst_idle"], 0.45)

    def test_a_silent_endpoint_makes_trials_invalid_and_not_good(self):
        with Sim("--us-per-message", "400") as sim, Bench(sim.toml, agents=2) as bench:
            spec = {"cluster": "sim", "message_bytes": [1000], "margin": 0.3, "trial": SHORT,
                    "producers": {"max": 8, "rate_each": {"messages_per_s": 100}}}
            sweep_id = bench.start(spec)
            wait_for("the first trial measures",
                     lambda: (bench.sweep(sweep_id)["progress"].get("current") or {}).get("phase") == "measuring", 60)
            http("POST", sim.url + "/faults", {"broker": 2, "kind": "silent", "for_s": 8})
            trial = wait_for("the trial is judged", lambda: next(
                (t for t in bench.trials(sweep_id) if t["verdict"]), None), 60)
            self.assertEqual(trial["verdict"], "invalid", trial)
            self.assertIn("broker 2", " ".join(trial["reasons"]))

    def test_faults_in_a_trial_void_it_by_name_and_the_sweep_goes_on(self):
        with Sim("--us-per-message", "400") as sim, Bench(sim.toml, agents=2) as bench:
            spec = {"cluster": "sim", "message_bytes": [1000], "margin": 0.3, "trial": {**SHORT, "measure_s": 10},
                    "producers": {"max": 2, "rate_each": {"messages_per_s": 300}}}
            for name, happen, reason in (
                    ("restart", lambda: http("POST", sim.url + "/faults", {"broker": 2, "kind": "restart", "for_s": 2}),
                     "counter of broker 2 went back"),
                    ("other clients", lambda: self.send_from_elsewhere(sim),
                     "a guard stopped the load: other clients send at least")):
                with self.subTest(fault=name):
                    sweep_id = bench.start(spec)
                    self.wait_until_measuring(bench, sweep_id)
                    happen()
                    ended = bench.wait_for_end(sweep_id, 120)
                    print(f"  {name}:\n{describe(bench, sweep_id)}", flush=True)
                    first, second = bench.trials(sweep_id)[:2]
                    self.assertEqual(first["verdict"], "invalid")
                    self.assertIn(reason, first["reasons"][0])
                    self.assertEqual((second["producers"], second["verdict"]), (first["producers"], "sustained"))
                    self.assertEqual(ended["state"], "succeeded", ended["state_reason"])

    def test_a_guard_stops_the_load_within_two_seconds_of_the_reading(self):
        guard = '[clusters.guards]\n[[clusters.guards.signal]]\nname = "bytes_in"\nabove = 1500000\nends = "sweep"\n'
        with Sim("--us-per-message", "400") as sim, Bench(sim.toml + guard, agents=2) as bench:
            sweep_id = bench.start({"cluster": "sim", "message_bytes": [1000], "margin": 0.3,
                                    "trial": {**SHORT, "measure_s": 30},
                                    "producers": {"max": 2, "rate_each": {"messages_per_s": 300}}})
            grown_at, before, ended_at = 0.0, -1.0, None
            while ended_at is None or time.time() < ended_at + 3:
                count = sum(sim.messages(broker) for broker in sim.metrics)
                if count > before:
                    grown_at, before = time.time(), count
                if ended_at is None and bench.sweep(sweep_id)["state"] in ("succeeded", "failed"):
                    ended_at = time.time()
                time.sleep(0.05)
            ended = bench.sweep(sweep_id)
            self.assertEqual(ended["state"], "failed")
            self.assertIn("a guard ended the sweep: bytes_in of broker", ended["state_reason"])
            self.assertEqual(len(bench.trials(sweep_id)), 1)
            samples = bench.get(f"/sweeps/{sweep_id}/trials/1/samples").json["samples"]
            read_at = max(datetime.datetime.fromisoformat(s["at"].replace("Z", "+00:00")).timestamp() for s in samples)
            print(f"  measured: the last message came in {grown_at - read_at:.2f} s after the reading")
            self.assertLess(grown_at - read_at, 2)

    def test_one_slow_broker_is_named_as_the_limit(self):
        with Sim("--us-per-message", "400") as sim:
            http("POST", sim.url + "/faults", {"broker": 2, "kind": "slow", "amount": 6, "for_s": 600})
            point = sweep(sim, margin=0.2)
            self.assertIn("one_slow_broker", point["flags"])
            self.assertIn("io_idle", [c["signal"] for c in point["first_crossings"] if c["msgs_per_s"]])

    def wait_until_measuring(self, bench, sweep_id):
        wait_for("the first trial measures",
                 lambda: (bench.sweep(sweep_id)["progress"].get("current") or {}).get("phase") == "measuring", 60)

    def send_from_elsewhere(self, sim):
        """40 MB from a client that is not brink, at once."""
        http("PUT", sim.url + "/topics/elsewhere", {"partitions": 3})
        portion = pathlib.Path(sim.folder) / "elsewhere"
        portion.write_text(("x" * 10_000 + "\n") * 4000)
        subprocess.run(["kcat", "-P", "-b", sim.bootstrap, "-t", "elsewhere", "-l", str(portion)], check=True,
                       timeout=30)

    def test_control_interface_answers_what_is_wrong(self):
        with Sim() as sim:
            for method, path, body, status, says in (
                    ("PUT", "/topics/t", {"partitions": 0}, 400, "partitions"),
                    ("PUT", "/topics/t", {"leaders": [9]}, 400, "leaders"),
                    ("PUT", "/topics/t", {"partition": 3}, 400, "partitions"),
                    ("GET", "/topics/none", None, 404, "none"),
                    ("DELETE", "/topics/none", None, 404, "none"),
                    ("GET", "/truth", None, 400, "message_bytes"),
                    ("GET", "/truth?message_bytes=x", None, 400, "message_bytes"),
                    ("POST", "/faults", {"broker": 1, "kind": "slow"}, 200, "slow"),
                    ("POST", "/faults", {"broker": 1, "kind": "odd"}, 400, "kind"),
                    ("POST", "/faults", {"broker": 7, "kind": "slow"}, 400, "7")):
                with self.subTest(path=path, body=body):
                    answer = http(method, sim.url + path, body)
                    self.assertEqual(answer.status, status, answer.body)
                    self.assertIn(says, answer.body.decode())
            self.assertEqual(http("PUT", sim.url + "/topics/t", {"partitions": 4}).json["leaders"], [1, 2, 3, 1])
            self.assertEqual(http("PUT", sim.url + "/topics/t", {"partitions": 4}).status, 409)

    def test_bad_flags_are_refused(self):
        for flags, says in ((["--brokers", "0"], "brokers"), (["--us-per-byte", "-1"], "us-per-byte"),
                            (["--listen", "nowhere"], "nowhere"), (["--no-such"], "no-such"),
                            (["--us-per-request", "0", "--us-per-message", "0", "--us-per-byte", "0"], "all costs")):
            with self.subTest(flags=flags):
                done = subprocess.run([BIN / "brink-sim", *flags], text=True, capture_output=True, timeout=20,
                                      check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
