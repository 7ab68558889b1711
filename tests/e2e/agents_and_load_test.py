"""Agents on their own against real brokers: connections, exact shares, starts together, and a stop that is felt at once."""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import BIN, Bench, Kafka, http, wait_for  # noqa: E402

EPOCH = 1_000_000


class AgentsAndLoad(unittest.TestCase):
    def setUp(self):
        self.kafka = Kafka().__enter__()
        self.addCleanup(self.kafka.__exit__)
        self.bench = Bench(self.kafka.toml).__enter__()
        self.addCleanup(self.bench.__exit__)
        self.urls = [f"http://127.0.0.1:{p}" for p in self.bench.agent_ports]
        self.topic = "brink-e2e-load"

        made = subprocess.run([os.path.join(os.path.dirname(__file__), "../../deploy/local-kafka/local-kafka"), "tool", "--data-dir",
                               self.kafka.data, "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.kafka.bootstrap,
                               "--create", "--topic", self.topic, "--partitions", "30", "--replication-factor", "3"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)

    def each(self, method, path, body=None):
        return [http(method, url + path, body) for url in self.urls]

    def prepare(self, trial, shares, rate_each, message_bytes=1000):
        first = 0
        for url, share in zip(self.urls, shares):
            self.assertEqual(http("POST", url + "/v1/lease", {"epoch": EPOCH, "lease_ms": 30000, "controller": "test"}).status // 100, 2)
            body = {"epoch": EPOCH, "bootstrap_servers": self.kafka.bootstrap, "topic": self.topic, "client": {"linger.ms": "5"},
                    "message_bytes": message_bytes, "payload": "random", "producers": share, "first_producer": first,
                    "total_producers": sum(shares), "rate_each": rate_each, "deadline_s": 60}
            answer = http("PUT", f"{url}/v1/tasks/{trial}", body)
            self.assertEqual(answer.status // 100, 2, answer.body)
            first += share

    def test_connections_starts_rates_and_stop(self):
        _, before = self.kafka.readings()
        self.prepare("t-1", [6, 6], 100)
        self.assertEqual([a.status for a in self.each("POST", "/v1/tasks/t-1/start", {"epoch": EPOCH, "start_in_ms": 300})], [200, 200])
        wait_for("load arrives", lambda: self.kafka.bytes_in_rate() > 500_000, 10)
        _, during = self.kafka.readings()
        for broker, count in during.items():
            self.assertGreaterEqual(count - before[broker], 12, f"broker {broker}")
        print("  measured connections more than at rest:", {b: during[b] - before[b] for b in during}, flush=True)
        time.sleep(4)
        self.check_rates()
        stopped = time.monotonic()
        self.each("POST", "/v1/tasks/t-1/stop", {"epoch": EPOCH})
        wait_for("bytes in at rest", lambda: self.kafka.bytes_in_rate(0.2) == 0, 5, every_s=0.01)
        took = time.monotonic() - stopped
        print(f"  measured rest after stop: {took:.2f} s (two scrapes 0.2 s apart included)", flush=True)
        self.assertLess(took, 1.0)

    def check_rates(self):
        def reports():
            return [a.json for a in self.each("GET", f"/v1/tasks/t-1/report?since=0&epoch={EPOCH}")]

        starts = [r["started_at_unix_ms"] for r in reports()]
        print(f"  measured start of the agents: {abs(starts[0] - starts[1])} ms apart", flush=True)
        self.assertLess(abs(starts[0] - starts[1]), 100)
        for report in reports():
            self.assertEqual([s["scheduled"] for s in report["seconds"][:3]], [600, 600, 600])
        # A broker that has just started acknowledges its first batches late; none may stay out.
        begun = time.monotonic()
        wait_for("everything due in the first three seconds is acknowledged",
                 lambda: all(s["acked"] == 600 for r in reports() for s in r["seconds"][:3]), 15)
        print(f"  measured: all acknowledged {time.monotonic() - begun:.1f} s later", flush=True)

    def test_idempotence_epochs_and_lease(self):
        self.prepare("t-2", [4, 3], 10)
        self.prepare("t-2", [4, 3], 10)  # the same body again is harmless
        url = self.urls[0]
        other = http("PUT", f"{url}/v1/tasks/t-2", {"epoch": EPOCH, "bootstrap_servers": self.kafka.bootstrap, "topic": self.topic,
                     "client": {}, "message_bytes": 5, "payload": "random", "producers": 1, "first_producer": 0,
                     "total_producers": 1, "rate_each": 1, "deadline_s": 60})
        self.assertEqual(other.status, 409)
        stale = http("POST", f"{url}/v1/tasks/t-2/start", {"epoch": EPOCH - 1, "start_in_ms": 0})
        self.assertEqual(stale.status, 409)
        self.assertIn(str(EPOCH), stale.json["detail"])
        # A short lease that nobody renews ends the load by itself.
        http("POST", url + "/v1/lease", {"epoch": EPOCH, "lease_ms": 1500, "controller": "test"})
        self.assertEqual(http("POST", f"{url}/v1/tasks/t-2/start", {"epoch": EPOCH, "start_in_ms": 0}).status, 200)
        wait_for("the task ends with its lease", lambda: http("GET", f"{url}/v1/tasks/t-2/report?since=0&epoch={EPOCH}").json["state"] == "failed", 4)
        report = http("GET", f"{url}/v1/tasks/t-2/report?since=0&epoch={EPOCH}").json
        self.assertIn("lease", report["state_reason"])
        self.assertTrue(os.access(BIN / "brink-agent", os.X_OK))


if __name__ == "__main__":
    unittest.main(verbosity=2)
