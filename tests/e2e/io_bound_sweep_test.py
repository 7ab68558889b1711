"""Real brokers with a genuine low limit: a sweep started over REST gives a limit curve that the brokers bear out."""
import csv
import io
import os
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import SHORT_TRIALS, Bench, Kafka, describe, http  # noqa: E402

SIZES = [int(s) for s in os.environ.get("BRINK_SIZES", "10000,100000").split(",")]
STRATEGY = os.environ.get("BRINK_STRATEGY", "guided")  # the churn test has bisection
RUNS = int(os.environ.get("BRINK_RUNS", "1"))


class IoBoundSweep(unittest.TestCase):
    def test_curve(self):
        with Kafka("--profile", "io-bound") as kafka, Bench(kafka.toml) as bench:
            curves = []
            for _ in range(RUNS):
                sweep_id = bench.start({"cluster": "local", "message_bytes": SIZES, "margin": 0.15, "strategy": STRATEGY,
                                        "trial": SHORT_TRIALS})
                busy = bench.post("/sweeps", {"cluster": "local", "message_bytes": [1]})
                self.assertEqual(busy.status, 409)
                self.assertIn(sweep_id, busy.json["detail"])
                sweep = bench.wait_for_end(sweep_id, 240 * len(SIZES) + 60)
                print(describe(bench, sweep_id), f"\n  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)
                self.assertEqual(sweep["state"], "succeeded", sweep["state_reason"])
                points = bench.points(sweep_id)
                for point in points:
                    self.check_point(bench, sweep_id, point)
                self.check_exports(bench, sweep_id, points)
                self.assertFalse(self.topics_left(bench, sweep["topic"]))
                curves.append(points)
            if RUNS > 1:
                overlap = [a["message_bytes"] for a, b in zip(*curves[:2])
                           if a["lower_msgs_per_s"] <= b["upper_msgs_per_s"] and b["lower_msgs_per_s"] <= a["upper_msgs_per_s"]]
                print(f"  brackets overlap at {len(overlap)} of {len(SIZES)} sizes: {overlap}", flush=True)

    def check_point(self, bench, sweep_id, point):
        self.assertEqual(point["state"], "done", point["state_reason"])
        self.assertEqual(point["limited_by"], "io_idle")
        trials = [t for t in bench.trials(sweep_id)
                  if t["purpose"] == "search" and t["message_bytes"] == point["message_bytes"]]
        lower = [t for t in trials if t["producers"] == point["lower_producers"] and t["verdict"] == "sustained"]
        upper = [t for t in trials if t["producers"] == point["upper_producers"] and t["verdict"] == "overloaded"]
        self.assertTrue(lower and upper)
        self.assertGreaterEqual(lower[-1]["worst_idle"], 0.20)
        self.assertLess(upper[-1]["worst_idle"], 0.20)
        self.assertGreaterEqual(point["worst_idle"], 0.20)
        samples = bench.get(f"/sweeps/{sweep_id}/trials/{lower[-1]['trial']}/samples").json
        self.assertGreaterEqual(len([s for s in samples["samples"] if s["in_window"]]), 36)
        starts = [a["report"]["started_at_unix_ms"] for a in samples["agents"]]
        self.assertEqual(len(starts), 2)
        self.assertLess(abs(starts[0] - starts[1]), 100, "agents start within 100 ms of each other")

    def check_exports(self, bench, sweep_id, points):
        """The view in a backup, the CSV and the API agree to the digit."""
        rows = list(csv.DictReader(io.StringIO(bench.get(f"/sweeps/{sweep_id}/curve.csv").body.decode(), newline="")))
        backup = f"{bench.folder}/backup-{sweep_id}.sqlite"
        with open(backup, "wb") as out:
            out.write(http("GET", bench.url + "/api/v1/backup").body)
        database = sqlite3.connect(backup)
        self.assertEqual(database.execute("pragma integrity_check").fetchone()[0], "ok")
        database.row_factory = sqlite3.Row
        view = [dict(r) for r in database.execute("select * from curve where sweep_id = ? order by message_bytes", (sweep_id,))]
        database.close()
        self.assertEqual(len(rows), len(points))
        self.assertEqual(list(rows[0]), list(view[0]))
        for point in points:
            row = next(r for r in rows if int(r["message_bytes"]) == point["message_bytes"])
            stored = next(r for r in view if r["message_bytes"] == point["message_bytes"])
            for key in ("lower_producers", "upper_producers", "lower_msgs_per_s", "upper_msgs_per_s", "measured_msgs_per_s",
                        "measured_mb_per_s", "broker_in_mb_per_s", "mb_per_s_per_broker", "p50_ms", "p99_ms", "worst_idle",
                        "isr_churn", "trials"):
                self.assertEqual(float(row[key]), float(point[key]), key)
                self.assertEqual(float(stored[key]), float(point[key]), key)
            self.assertEqual(row["limited_by"], point["limited_by"])
            self.assertEqual(row["started_at"], stored["started_at"])

    @staticmethod
    def topics_left(bench, topic):
        log = bench.daemon.text()
        return f"event=topic_not_deleted" in log and topic in log


if __name__ == "__main__":
    unittest.main(verbosity=2)
