"""Brokers with a produce quota: a point limited by the quota, while their threads have nothing to do."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import Bench, Kafka, describe  # noqa: E402

SIZE = 10_000
QUOTA_MSGS_PER_S = 3 * 1_000_000 / SIZE  # three brokers of 1 MB/s each

# Kafka averages over the last ten seconds: throttling shows as late as that.
TRIAL = {"warm_up_s": 8, "measure_s": 12, "sub_window_s": 2, "scrape_interval_s": 1}


class QuotaBound(unittest.TestCase):
    def test_point(self):
        with Kafka("--profile", "quota-bound") as kafka, Bench(kafka.toml) as bench:
            sweep_id = bench.start({"cluster": "local", "message_bytes": [SIZE], "margin": 0.4, "trial": TRIAL,
                                    "producers": {"max": 24, "rate_each": {"messages_per_s": 40}}})
            sweep = bench.wait_for_end(sweep_id, 170)
            print(describe(bench, sweep_id), f"\n  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)
            self.assertEqual(sweep["state"], "succeeded", sweep["state_reason"])
            point = bench.points(sweep_id)[0]
            self.assertEqual(point["limited_by"], "quota")
            # What was sustained is below the quota, what was not is above (with 10 % for headers and batches).
            self.assertLess(point["lower_msgs_per_s"], 1.1 * QUOTA_MSGS_PER_S)
            self.assertGreater(point["upper_msgs_per_s"], 0.9 * QUOTA_MSGS_PER_S)
            for trial in bench.trials(sweep_id):
                # The brokers by themselves had room, and nobody blames the agents.
                self.assertEqual(trial["published_verdict"], "sustained", trial["reasons"])
                self.assertNotEqual(trial["verdict"], "generator_limited", trial["reasons"])
                throttled = next(f for f in trial["figures"] if f["rule"] == "quota")
                self.assertEqual(trial["limited_by"] == "quota", throttled["value"] > throttled["threshold"])
            self.assertTrue(trial["rules"]["quota"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
