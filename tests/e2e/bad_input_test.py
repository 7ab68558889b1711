"""Bad input and unreachable parties: a clear answer at once, nothing half-started, nothing lost, and the process goes on."""
import hashlib
import http.server
import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from harness import BIN, SHORT_TRIALS, Bench, Kafka, http as call  # noqa: E402

MINIMAL = {"cluster": "local", "message_bytes": [1000]}


class Page(http.server.BaseHTTPRequestHandler):
    """Answers every GET with the server's status, type and body, after its delay."""

    def do_GET(self):
        time.sleep(self.server.delay_s)
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.kind)
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        try:
            self.wfile.write(self.server.page)
        except BrokenPipeError:
            pass  # whoever asked has given up, which is what some cases are about

    def log_message(self, *_):
        pass


def serve(test, status=200, kind="text/plain", page=b"", delay_s=0.0):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    server.status, server.kind, server.page, server.delay_s = status, kind, page, delay_s
    threading.Thread(target=server.serve_forever, daemon=True).start()
    test.addCleanup(server.server_close)
    test.addCleanup(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}"


def cluster_toml(name, bootstrap, metrics):
    text = f'[[clusters]]\nname = "{name}"\nbootstrap_servers = "{bootstrap}"\nscrape_timeout_ms = 1000\n'
    for broker, url in metrics.items():
        text += f'[[clusters.metrics]]\nbroker_id = {broker}\nurl = "{url}"\n'
    return text


class WithBrokers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kafka = Kafka("--brokers", "1").__enter__()
        cls.addClassCleanup(cls.kafka.__exit__)

    def refused(self, bench, spec, status, *words):
        begun = time.monotonic()
        answer = bench.post("/sweeps", spec)
        self.assertEqual(answer.status, status, answer.body)
        self.assertIn("application/problem+json", answer.headers["Content-Type"])
        for word in words:
            self.assertIn(word, answer.body.decode())
        self.assertLess(time.monotonic() - begun, 12)
        self.assertEqual(bench.get("/sweeps").json["sweeps"], [], "nothing half-started")
        return answer.json

    def test_specs(self):
        with Bench(self.kafka.toml) as bench:
            pointer = lambda answer: answer["errors"][0]["pointer"]  # noqa: E731
            self.refused(bench, b"", 400)
            self.refused(bench, b'{"cluster":', 400)
            self.refused(bench, b'{"cluster":"local","cluster":"b","message_bytes":[1]}', 400, "cluster")
            self.refused(bench, b"[" * 100_000, 400)
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, margn=1), 400, "did you mean 'margin'?")), "/margn")
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, message_bytes=[-5]), 400, "-5")), "/message_bytes/0")
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, message_bytes=[]), 400)), "/message_bytes")
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, margin=0), 400)), "/margin")
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, message_bytes=[100, 2_000_000]), 400, "message.max.bytes")), "/message_bytes/1")
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, cluster="nowhere"), 400, "nowhere", "known: local")), "/cluster")
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, topic={"replication_factor": 3}), 400)), "/topic/replication_factor")
            self.assertEqual(pointer(self.refused(bench, dict(MINIMAL, producers={"max": 99_999}), 400, "max_producers")), "/producers/max")
            self.assertEqual(call("POST", bench.url + "/api/v1/sweeps", MINIMAL, content_type="text/plain").status, 415)
            self.assertEqual(call("POST", bench.url + "/api/v1/sweeps", b"x" * (1024 * 1024 + 1)).status, 413)
            self.assertEqual(bench.get("/sweeps/none").status, 404)
            self.assertEqual(bench.post("/sweeps/none:cancel").status, 404)
            self.assertEqual(bench.get("/nothing").status, 404)
            self.assertEqual(call("PUT", bench.url + "/api/v1/sweeps", b"{}").status, 405)
            self.assertEqual(bench.get("/sweeps?page_size=0").status, 200)
            plan = bench.post("/sweeps?validate_only=true", dict(MINIMAL, trial=SHORT_TRIALS))
            self.assertEqual(plan.status, 200, plan.body)
            self.assertGreater(plan.json["plan"]["trials_expected"], 1)
            self.assertEqual(bench.get("/sweeps").json["sweeps"], [])
            self.assertEqual(bench.get("/healthz", root=True).status, 200)
            checked = bench.brink("check", "local")
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            self.assertEqual(bench.brink("sweep", "start", "--cluster", "local", "--sizes", "0").returncode, 2)
            self.assertEqual(bench.brink("sweep", "show", "none").returncode, 2)

    def test_metrics_that_cannot_be_used(self):
        secret = "canary-do-not-echo"
        cases = {"refused": ("http://127.0.0.1:1/metrics", ["127.0.0.1:1", "refused"]),
                 "html": (serve(self, kind="text/html", page=f"<html>{secret}</html>".encode()), ["text/html", "not metrics"]),
                 "unauthorised": (serve(self, 401, page=secret.encode()), ["401"]),
                 "slow": (serve(self, delay_s=3), ["1000 ms"]),
                 "noidle": (serve(self, page=b"some_metric 1\n"), ["idle", "RequestHandlerAvgIdlePercent"])}
        toml = "".join(cluster_toml(n, self.kafka.bootstrap, {1: url}) for n, (url, _) in cases.items())
        with Bench(toml) as bench:
            for name, (_, words) in cases.items():
                with self.subTest(name):
                    answer = self.refused(bench, dict(MINIMAL, cluster=name), 503, "broker 1", *words)
                    self.assertNotIn(secret, str(answer))
                    check = bench.get(f"/clusters/{name}/check").json
                    self.assertFalse(check["fit"])
                    self.assertFalse(check["brokers"][0]["judgeable"])
                    self.assertEqual(bench.brink("check", name).returncode, 4)

    def test_unreachable_brokers_and_agents(self):
        toml = cluster_toml("gone", "127.0.0.1:1", {1: "http://127.0.0.1:1/metrics"}) + self.kafka.toml
        with Bench(toml) as bench:
            self.refused(bench, dict(MINIMAL, cluster="gone"), 503, "127.0.0.1:1")
            self.assertFalse(bench.get("/clusters/gone/check").json["fit"])
            for agent in bench.agents:
                agent.kill()
            self.refused(bench, MINIMAL, 503, "agent-0")
            self.assertEqual({a["state"] for a in bench.get("/agents").json["agents"]}, {"unreachable"})
            self.assertEqual(bench.brink("sweep", "start", "--cluster", "gone", "--sizes", "1k").returncode, 69)

    def test_agents_that_answer_garbage(self):
        with Bench(self.kafka.toml, agents=0) as empty:
            self.refused(empty, MINIMAL, 503, "no agent")
        page = serve(self, kind="text/html", page=b"<html>hello</html>")
        extra = self.kafka.toml + f'[[agents]]\nname = "garbage"\nurl = "{page}"\n'
        with Bench(extra, agents=0) as bench:
            self.refused(bench, MINIMAL, 503, "garbage", "not JSON")
            self.assertEqual(bench.get("/agents").json["agents"][0]["state"], "unusable")


class Startup(unittest.TestCase):
    """What keeps brinkd from starting: exit 78, one line, and files left as they were."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="brink-startup-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def brinkd(self, text, *options):
        config = self.folder / "brink.toml"
        config.write_text(text)
        done = subprocess.run([BIN / "brinkd", "--config", config, *options], capture_output=True, text=True, timeout=20, check=False)
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done

    def base(self, **changes):
        keys = {"listen": "127.0.0.1:0", "database": str(self.folder / "b.sqlite"), **changes}
        return "".join(f'{k} = "{v}"\n' for k, v in keys.items())

    def refused(self, text, *words):
        done = self.brinkd(text)
        self.assertEqual(done.returncode, 78, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_configuration(self):
        self.assertEqual(self.brinkd(self.base(), "--check-config").returncode, 0)
        self.refused(self.base(databse="x"), "brink.toml:3", "did you mean 'database'?")
        self.refused(self.base(listen="0.0.0.0:0"), "token")
        missing = subprocess.run([BIN / "brinkd", "--config", "/nonexistent"], capture_output=True, text=True, check=False)
        self.assertEqual(missing.returncode, 78)
        self.assertEqual(subprocess.run([BIN / "brinkd", "--nonsense"], capture_output=True, check=False).returncode, 2)

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.refused(self.base(listen=address), address, "in use")
            agent = subprocess.run([BIN / "brink-agent", "--listen", address], capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual(agent.returncode, 78)
            self.assertIn(address, agent.stderr + agent.stdout)

    def test_databases(self):
        self.refused(self.base(database=str(self.folder / "no/such/dir/b.sqlite")), "no/such/dir")
        text = self.folder / "text.sqlite"
        text.write_bytes(b"this is not a database at all, but long enough to be looked at" * 20)
        newer = self.folder / "newer.sqlite"
        self.assertEqual(self.brinkd(self.base(), "--check-config").returncode, 0)
        with Bench("", agents=0) as bench:
            bench.daemon.stop()
            newer.write_bytes(pathlib.Path(bench.database).read_bytes())
        with sqlite3.connect(newer) as database:
            database.execute("pragma user_version = 999")
        damaged = self.folder / "damaged.sqlite"
        content = bytearray(newer.read_bytes())
        content[4096:4096 + 2000] = b"\xff" * 2000
        damaged.write_bytes(content)
        for file in (text, newer, damaged):
            with self.subTest(file.name):
                file.chmod(0o600)
                before = hashlib.sha256(file.read_bytes()).hexdigest()
                self.refused(self.base(database=str(file)), file.name)
                self.assertEqual(hashlib.sha256(file.read_bytes()).hexdigest(), before)

    def test_second_daemon(self):
        with Bench("", agents=0) as bench:
            self.refused(self.base(database=bench.database), bench.database)
            self.assertEqual(bench.get("/readyz", root=True).status, 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
