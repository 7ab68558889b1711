"""A node that is broker and controller in one (combined mode) has the same limit as a broker with a controller beside it:
before Kafka 4.2 both pools mark one idle meter, which reads about 2 at rest; from 4.2 the broker has a meter of its own."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import SHORT_TRIALS, Bench, Kafka, describe  # noqa: E402

VERSIONS = os.environ.get("BRINK_KAFKA_VERSIONS", "4.1.2").split(",")
SIZE = 10000


class CombinedMode(unittest.TestCase):
    def boundary(self, *options):
        with Kafka("--profile", "io-bound", *options) as kafka, Bench(kafka.toml) as bench:
            sweep_id = bench.start({"cluster": "local", "message_bytes": [SIZE], "margin": 0.15, "strategy": "guided",
                                    "trial": SHORT_TRIALS})
            sweep = bench.wait_for_end(sweep_id, 360)
            print(f"{' '.join(options)}\n{describe(bench, sweep_id)}\n  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)
            self.assertEqual(sweep["state"], "succeeded", sweep["state_reason"])
            rest = {r["broker_id"]: r["idle"] for r in sweep["rest"]}
            return bench.points(sweep_id)[0], rest

    def test_same_boundary(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                alone, _ = self.boundary("--kafka-version", version)
                combined, rest = self.boundary("--kafka-version", version, "--combined")
                if version < "4.2":
                    self.assertGreater(rest[1], 1.5, "broker 1 is the controller, too")
                self.assertLess(rest[2], 1.1)
                for point in (alone, combined):
                    self.assertEqual(point["limited_by"], "io_idle")
                overlap = (alone["lower_msgs_per_s"] <= combined["upper_msgs_per_s"]
                           and combined["lower_msgs_per_s"] <= alone["upper_msgs_per_s"])
                ratio = combined["measured_msgs_per_s"] / alone["measured_msgs_per_s"]
                print(f"  measured {version}: combined {ratio:.2f} of alone, brackets {'overlap' if overlap else 'are apart'}")
                self.assertTrue(overlap or abs(ratio - 1) < 0.25, ratio)


if __name__ == "__main__":
    unittest.main(verbosity=2)
