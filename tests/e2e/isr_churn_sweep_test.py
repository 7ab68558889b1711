"""Brokers whose followers fall out as load grows: a point limited by ISR churn, not by IO threads."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import SHORT_TRIALS, Bench, Kafka, describe  # noqa: E402


class IsrChurnSweep(unittest.TestCase):
    def test_point(self):
        with Kafka("--profile", "isr-churn") as kafka, Bench(kafka.toml) as bench:
            spec = {"cluster": "local", "message_bytes": [10000], "margin": 0.3, "trial": SHORT_TRIALS,
                    # The churn of this profile comes with bursts of appends: many producers, no waiting for a batch.
                    "producers": {"max": 32, "rate_each": {"messages_per_s": float(os.environ.get("BRINK_RATE", "200"))}},
                    "client": {"linger.ms": "0", "acks": "1", "enable.idempotence": "false"}}
            sweep_id = bench.start(spec)
            sweep = bench.wait_for_end(sweep_id, 600)
            print(describe(bench, sweep_id), f"\n  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)
            self.assertEqual(sweep["state"], "succeeded", sweep["state_reason"])
            point = bench.points(sweep_id)[0]
            self.assertEqual(point["limited_by"], "isr_churn")
            upper = [t for t in bench.trials(sweep_id) if t["producers"] == point["upper_producers"] and t["verdict"] == "overloaded"][-1]
            self.assertGreater(upper["isr_churn"], 0.5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
