"""A cluster whose metrics come from a Prometheus server: Debian's own, which scrapes brink-sim once a second.

The limit that brink finds over it holds the true one; what is wrong with labels, or between Prometheus and a broker, is said.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import Bench, Program, describe, free_port, http, wait_for  # noqa: E402
from sim_test import Sim  # noqa: E402

MESSAGE_US = 400
TRIAL = {"warm_up_s": 1, "measure_s": 13, "sub_window_s": 2, "scrape_interval_s": 1}


class Prometheus:
    """Debian's server with a folder of its own, scraping these addresses once a second."""

    def __init__(self, targets):
        self.targets = targets

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="brink-e2e-prometheus-", dir="/var/tmp")
        address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{address}"
        config = pathlib.Path(self.folder) / "prometheus.yml"
        config.write_text("global: { scrape_interval: 1s, scrape_timeout: 1s }\n"
                          "scrape_configs:\n- job_name: kafka\n  static_configs:\n"
                          f"  - targets: {list(self.targets)}\n")
        self.program = Program("prometheus", ["/usr/bin/prometheus", f"--config.file={config}",
                                              f"--storage.tsdb.path={self.folder}/data",
                                              f"--web.listen-address={address}"], self.folder)
        try:
            wait_for("Prometheus has scraped each broker three times", self.has_samples, 30)
        except BaseException:
            self.__exit__()
            raise
        return self

    def has_samples(self):
        assert self.program.alive(), f"prometheus ended: {self.program.text()[-2000:]}"
        try:
            series = http("GET", self.url + "/api/v1/query?query=up%5B20s%5D").json["data"]["result"]
        except (OSError, ValueError, KeyError):
            return False
        return len(series) == len(self.targets) and all(
            sum(value == "1" for _, value in s["values"]) >= 3 for s in series)

    def __exit__(self, *_):
        self.program.kill()
        subprocess.run(["rm", "-rf", self.folder], check=False)


def cluster_toml(name, sim, prometheus, instances):
    """A cluster with the brokers of `sim`, each found by its instance."""
    return (f'[[clusters]]\nname = "{name}"\nbootstrap_servers = "{sim.bootstrap}"\nsim_url = "{sim.url}"\n'
            f'[clusters.prometheus]\nurl = "{prometheus.url}"\nlag_s = 3\n' +
            "".join(f'[[clusters.prometheus.brokers]]\nbroker_id = {broker}\nlabels = {{ instance = "{instance}" }}\n'
                    for broker, instance in instances.items()))


class PrometheusSource(unittest.TestCase):
    def test_a_sweep_judged_by_what_prometheus_stored(self):
        with Sim("--us-per-message", str(MESSAGE_US), "--us-per-byte", "0", "--us-per-request", "0") as sim:
            instances = {broker: url.split("/")[2] for broker, url in sim.metrics.items()}
            wrong = {**instances, 2: "nowhere:7071"}
            with Prometheus(instances.values()) as prometheus, \
                    Bench(cluster_toml("sim", sim, prometheus, instances) +
                          cluster_toml("wrong", sim, prometheus, wrong)) as bench:
                self.check_says_where_readings_come_from(bench, prometheus, instances)
                self.windows_that_are_too_short_are_refused(bench)
                self.sweep_finds_the_truth(bench, sim)
                self.broker_that_goes_silent_is_named(bench, sim)

    def check_says_where_readings_come_from(self, bench, prometheus, instances):
        check = bench.get("/clusters/sim/check").json
        self.assertTrue(check["fit"], check["problems"])
        self.assertAlmostEqual(check["sampling_interval_s"], 1, delta=0.1)
        for broker in check["brokers"]:
            where = f'Prometheus {prometheus.url} {{instance="{instances[broker["id"]]}"}}'
            self.assertEqual(broker["metrics_url"], where)
            self.assertAlmostEqual(broker["idle_at_rest"], 1, delta=0.1)
            self.assertEqual(broker["signals"]["io_idle_ns"]["series"],
                             'kafka_server_KafkaRequestHandlerPool_Count{name="RequestHandlerAvgIdlePercent"}')
        shown = bench.brink("check", "sim")
        self.assertEqual(shown.returncode, 0, shown.stdout + shown.stderr)
        self.assertIn("metrics come from Prometheus", shown.stdout)

        check = bench.get("/clusters/wrong/check").json
        self.assertFalse(check["fit"])
        self.assertIn('{instance="nowhere:7071"}: Prometheus has had no sample with these labels', check["problems"][0])

    def windows_that_are_too_short_are_refused(self, bench):
        refused = bench.post("/sweeps", {"cluster": "sim", "message_bytes": [1000], "trial": {**TRIAL, "measure_s": 6}})
        self.assertEqual(refused.status, 400, refused.body)
        self.assertIn("/trial/measure_s", [e["pointer"] for e in refused.json["errors"]])

    def sweep_finds_the_truth(self, bench, sim):
        truth = sim.truth(1000)["true_msgs_per_s"]
        sweep_id = bench.start({"cluster": "sim", "message_bytes": [1000], "margin": 0.4, "strategy": "bisection",
                                "producers": {"max": 20, "rate_each": {"messages_per_s": truth / 11.5}},
                                "trial": TRIAL})
        ended = bench.wait_for_end(sweep_id, 150)
        print(describe(bench, sweep_id), flush=True)
        self.assertEqual(ended["state"], "succeeded", ended["state_reason"])
        point = bench.points(sweep_id)[0]
        print(f"  measured over Prometheus: truth {truth:.0f}, bracket {point['lower_msgs_per_s']:.0f} to "
              f"{point['upper_msgs_per_s']:.0f} msg/s, idle {point['worst_idle']:.3f}, {point['trials']} trials")
        self.assertLessEqual(point["lower_msgs_per_s"], truth)
        self.assertGreaterEqual(point["upper_msgs_per_s"], truth)
        self.assertEqual(point["limited_by"], "io_idle")
        trial = bench.trials(sweep_id)[0]
        samples = bench.get(f"/sweeps/{sweep_id}/trials/{trial['trial']}/samples").json["samples"]
        inside = [s["at_s"] for s in samples if s["in_window"] and s["broker_id"] == 1]
        self.assertGreaterEqual(len(inside), 12)
        for earlier, later in zip(inside, inside[1:]):
            self.assertAlmostEqual(later - earlier, 1, delta=0.5)

    def broker_that_goes_silent_is_named(self, bench, sim):
        http("POST", sim.url + "/faults", {"broker": 2, "kind": "silent", "for_s": 8})

        def problems():
            found = bench.get("/clusters/sim/check").json["problems"]
            return [p for p in found if "broker 2" in p and "up is 0" in p]
        wait_for("the check names the broker that does not answer Prometheus", problems, 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
