"""Brokers whose network threads give out (TLS, one thread, one broker on a fraction of a CPU): idle cannot see it, and
neither IO threads nor the agents may be blamed for it."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import Bench, Kafka, describe  # noqa: E402

TRIAL = {"warm_up_s": 6, "measure_s": 13, "sub_window_s": 2, "scrape_interval_s": 1}
RATE = float(os.environ.get("BRINK_RATE", "150"))


class NetworkBound(unittest.TestCase):
    def test_point(self):
        with Kafka("--profile", "network-bound") as kafka, Bench(kafka.toml) as bench:
            self.assertIn("ssl.ca.location", kafka.toml)
            sweep_id = bench.start({"cluster": "local", "message_bytes": [10_000], "margin": 0.5, "trial": TRIAL,
                                    "producers": {"max": 16, "rate_each": {"messages_per_s": RATE}}})
            sweep = bench.wait_for_end(sweep_id, 170)
            print(describe(bench, sweep_id), f"\n  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)
            point = bench.points(sweep_id)[0]
            trials = bench.trials(sweep_id)
            for trial in trials:
                print("   ", trial["producers"], trial["reasons"], [b["network_idle"] for b in trial["brokers"]],
                      [b["answer_ms"] for b in trial["brokers"]])
            said = " ".join([point["state_reason"], str(point["limited_by"]), *(r for t in trials for r in t["reasons"]
                                                                               if t["verdict"] != "sustained")])
            for word in ("IO thread", "io_idle", "request-handler", "agents short", "generator", "local queue"):
                self.assertNotIn(word, said)
            self.assertTrue(all(t["published_verdict"] in ("sustained", "invalid") for t in trials))
            # The limit was met, and the answer is a boundary or says why there is none.
            short = [t for t in trials if t["acked_msgs_per_s"] < 0.99 * t["offered_msgs_per_s"]]
            self.assertTrue(short, "no load was too much: raise BRINK_RATE")
            if point["state"] == "done":
                self.assertEqual(point["limited_by"], "delivery")
                self.assertIn("network threads of broker", said)
            else:
                self.assertIn("unexplained", point["state_reason"])
                self.assertIn("suspect", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
