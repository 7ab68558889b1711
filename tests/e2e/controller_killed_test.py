"""kill -9 of the controller under load: the brokers are at rest within lease + 2 s, and the next controller says what happened."""
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import SHORT_TRIALS, Bench, Kafka, wait_for  # noqa: E402

LEASE_S = 5


class ControllerKilled(unittest.TestCase):
    def test_kill_stop_and_restart(self):
        with Kafka() as kafka, Bench(kafka.toml, lease_ms=LEASE_S * 1000) as bench:
            for how in (signal.SIGKILL, signal.SIGSTOP):
                sweep_id = bench.start({"cluster": "local", "message_bytes": [1000], "producers": {"max": 20, "rate_each": {"messages_per_s": 100}},
                                        "trial": dict(SHORT_TRIALS, measure_s=60)})
                wait_for("load arrives", lambda: kafka.bytes_in_rate() > 300_000, 60)
                begun = time.monotonic()
                bench.daemon.send(how)
                wait_for("bytes in at rest", lambda: kafka.bytes_in_rate(0.3) == 0, LEASE_S + 4, every_s=0.05)
                took = time.monotonic() - begun
                print(f"  measured rest after {how.name}: {took:.1f} s (lease {LEASE_S} s)", flush=True)
                self.assertLess(took, LEASE_S + 2)
                bench.daemon.kill()
                bench.start_daemon()
                sweep = bench.sweep(sweep_id)
                self.assertEqual(sweep["state"], "failed")
                self.assertIn("controller ended", sweep["state_reason"])
                self.assertEqual({t["state"] for t in bench.trials(sweep_id) if t["verdict"] is None or t["state"] == "void"}, {"void"})
                wait_for("the orphaned topic is deleted", lambda: "event=orphaned_topic_deleted" in bench.daemon.text(), 30)

    def test_cancel_and_graceful_stop(self):
        with Kafka() as kafka, Bench(kafka.toml) as bench:
            spec = {"cluster": "local", "message_bytes": [1000], "producers": {"max": 20, "rate_each": {"messages_per_s": 100}}, "trial": SHORT_TRIALS}
            sweep_id = bench.start(spec)
            wait_for("load arrives", lambda: kafka.bytes_in_rate() > 300_000, 60)
            self.assertEqual(bench.post(f"/sweeps/{sweep_id}:cancel").status, 200)
            self.assertEqual(bench.post(f"/sweeps/{sweep_id}:cancel").status, 200)
            wait_for("bytes in at rest", lambda: kafka.bytes_in_rate(0.3) == 0, 3, every_s=0.05)
            self.assertEqual(bench.wait_for_end(sweep_id, 40)["state"], "cancelled")
            self.assertEqual(bench.post(f"/sweeps/{sweep_id}:cancel").json["state"], "cancelled")
            sweep_id = bench.start(spec)
            wait_for("load arrives", lambda: kafka.bytes_in_rate() > 300_000, 60)
            self.assertEqual(bench.daemon.stop(), 0)
            self.assertEqual(kafka.bytes_in_rate(0.3), 0)
            bench.start_daemon()
            self.assertEqual(bench.sweep(sweep_id)["state"], "failed")
            self.assertIn("controller was stopped", bench.sweep(sweep_id)["state_reason"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
