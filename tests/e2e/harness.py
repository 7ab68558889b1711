"""What the end-to-end tests stand on: real brokers, brinkd and agents as processes, each ended whatever happens.

Standard library only. Programs come from the build directory in BRINK_BIN.
"""
import json
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("BRINK_BIN", SOURCE / "build/dev/bin"))
LOCAL_KAFKA = SOURCE / "deploy/local-kafka"

SHORT_TRIALS = {"warm_up_s": 5, "measure_s": 15, "sub_window_s": 2.5, "scrape_interval_s": 1,
                "max_extensions": 0}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, condition, timeout_s, every_s=0.2):
    """Waits until `condition()` is true (and returns its value); fails loudly, naming what did not come."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout_s} s")
        time.sleep(every_s)


def within(netns):
    """What to put before a command that is to run in a network namespace. Unlike `ip netns exec` it leaves the mounts
    alone, which a chroot does not let it change."""
    return ["nsenter", f"--net=/run/netns/{netns}"]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def http(method, url, body=None, token=None, content_type="application/json", timeout=30):
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)
    if data is not None:
        request.add_header("Content-Type", content_type)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as r:
            return Answer(r.status, r.headers, r.read())
    except urllib.error.HTTPError as e:
        return Answer(e.code, e.headers, e.read())


class Program:
    """A process of ours with its log in a file; ended on exit, by force if it must be."""

    def __init__(self, name, command, folder, netns=None):
        self.name = name
        self.log = pathlib.Path(folder) / f"{name}.log"
        prefix = within(netns) if netns else []
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(prefix + [str(c) for c in command], stdout=out, stderr=out,
                                            stdin=subprocess.DEVNULL, start_new_session=True)

    def alive(self):
        return self.process.poll() is None

    def send(self, number):
        os.killpg(self.process.pid, number)

    def kill(self):
        if self.alive():
            self.send(signal.SIGKILL)
        self.process.wait()

    def stop(self, timeout_s=20):
        if self.alive():
            self.send(signal.SIGTERM)
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"{self.name} did not stop within {timeout_s} s")
        return self.process.returncode

    def text(self):
        return self.log.read_text(errors="replace")


class Kafka:
    """Real brokers from deploy/local-kafka in a data folder of their own."""

    def __init__(self, *options):
        self.data = tempfile.mkdtemp(prefix="brink-e2e-kafka-", dir="/var/tmp")
        self.options = options

    def __enter__(self):
        self._call("up", *self.options)
        env = dict(line.replace("export ", "").split("=", 1)
                   for line in self._call("env").splitlines() if "=" in line)
        self.bootstrap = shlex.split(env["BRINK_KAFKA_BOOTSTRAP"])[0]
        pairs = shlex.split(env["BRINK_KAFKA_METRICS"])[0].split()
        self.metrics = {int(k): v for k, v in (p.split("=", 1) for p in pairs)}
        self.toml = self._call("env", "--brinkd-config")
        return self

    def __exit__(self, *_):
        self._call("down")
        subprocess.run(["rm", "-rf", self.data], check=False)

    def _call(self, verb, *options):
        done = subprocess.run([LOCAL_KAFKA / verb, "--data-dir", self.data, *options], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise AssertionError(f"local-kafka {verb} failed: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def readings(self):
        """Sum over the brokers of what their exporters say: bytes in from clients, and each one's connections."""
        bytes_in, connections = 0.0, {}
        for broker, url in self.metrics.items():
            text = http("GET", url, timeout=5).body.decode()
            connections[broker] = 0.0
            for line in text.splitlines():
                if line.startswith("kafka_server_brokertopicmetrics_count") and 'name="BytesInPerSec"' in line \
                        and "topic=" not in line:
                    bytes_in += float(line.rsplit(" ", 1)[1])
                if line.startswith("kafka_server_socket_server_metrics_connection_count"):
                    connections[broker] += float(line.rsplit(" ", 1)[1])
        return bytes_in, connections

    def bytes_in_rate(self, over_s=0.3):
        first, _ = self.readings()
        begun = time.monotonic()
        time.sleep(over_s)
        second, _ = self.readings()
        return (second - first) / (time.monotonic() - begun)


class Bench:
    """brinkd and its agents beside some brokers."""

    def __init__(self, cluster_toml, agents=2, extra="", lease_ms=5000):
        self.folder = tempfile.mkdtemp(prefix="brink-e2e-", dir="/var/tmp")
        self.cluster_toml, self.extra, self.lease_ms = cluster_toml, extra, lease_ms
        self.agent_ports = [free_port() for _ in range(agents)]
        self.port = free_port()
        self.agents, self.daemon = [], None
        self.url = f"http://127.0.0.1:{self.port}"
        self.database = f"{self.folder}/brink.sqlite"

    def config(self):
        path = pathlib.Path(self.folder) / "brink.toml"
        agents = "".join(f'[[agents]]\nname = "agent-{i}"\nurl = "http://127.0.0.1:{p}"\n'
                         for i, p in enumerate(self.agent_ports))
        path.write_text(f'listen = "127.0.0.1:{self.port}"\ndatabase = "{self.database}"\n'
                        f"lease_ms = {self.lease_ms}\n{self.extra}\n{self.cluster_toml}\n{agents}")
        return path

    def __enter__(self):
        try:
            for i, port in enumerate(self.agent_ports):
                self.agents.append(Program(f"agent-{i}", [BIN / "brink-agent", "--listen", f"127.0.0.1:{port}"],
                                           self.folder))
            self.start_daemon()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_daemon(self):
        self.daemon = Program("brinkd", [BIN / "brinkd", "--config", self.config()], self.folder)
        wait_for("brinkd answers", self.ready, 20)

    def ready(self):
        assert self.daemon.alive(), f"brinkd ended: {self.daemon.text()[-2000:]}"
        try:
            return self.get("/readyz", root=True).status == 200
        except OSError:
            return False

    def __exit__(self, *_):
        for program in [self.daemon, *self.agents]:
            if program:
                program.kill()
        if not os.environ.get("BRINK_KEEP"):
            subprocess.run(["rm", "-rf", self.folder], check=False)

    def get(self, path, root=False):
        return http("GET", self.url + ("" if root else "/api/v1") + path)

    def post(self, path, body=None):
        return http("POST", self.url + "/api/v1" + path, body if body is not None else b"")

    def start(self, spec):
        answer = self.post("/sweeps", spec)
        assert answer.status == 202, answer.body
        return answer.json["id"]

    def sweep(self, sweep_id):
        return self.get(f"/sweeps/{sweep_id}").json

    def wait_for_end(self, sweep_id, timeout_s):
        def ended():
            sweep = self.sweep(sweep_id)
            return sweep if sweep["state"] in ("succeeded", "failed", "cancelled") else None
        return wait_for(f"sweep {sweep_id} ends", ended, timeout_s, every_s=1)

    def points(self, sweep_id):
        return self.get(f"/sweeps/{sweep_id}/points").json["points"]

    def trials(self, sweep_id):
        return self.get(f"/sweeps/{sweep_id}/trials").json["trials"]

    def brink(self, *arguments, timeout=60):
        return subprocess.run([BIN / "brink", "--controller", self.url, *arguments], text=True, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)


def describe(bench, sweep_id):
    """A sweep's points and trials as lines, for people who read a test's output."""
    lines = []
    for t in bench.trials(sweep_id):
        lines.append(f"  trial {t['trial']:3} {t['purpose'][:6]} {t['message_bytes']:7} B {t['producers']:4} x "
                     f"{t['rate_each']:<8.4g} idle {t['worst_idle'] if t['worst_idle'] is None else round(t['worst_idle'], 3)!s:6} "
                     f"churn {t['isr_churn']} acked {round(t['acked_msgs_per_s'] or 0)} of {round(t['offered_msgs_per_s'] or 0)} "
                     f"{t['verdict']} {t['reasons'][:1]}")
    for p in bench.points(sweep_id):
        lines.append(f"  point {p['message_bytes']:7} B {p['state']} [{p['lower_msgs_per_s']}, {p['upper_msgs_per_s']}] "
                     f"measured {p['measured_msgs_per_s']} msg/s {p['measured_mb_per_s']} MB/s idle {p['worst_idle']} "
                     f"by {p['limited_by']} {p['evidence']} {p['flags']} {p['state_reason']}")
    return "\n".join(lines)
