"""Agents, controller and brokers in network namespaces of their own: nothing relies on loopback. Needs root."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import json  # noqa: E402

from harness import BIN, SHORT_TRIALS, Kafka, Program, within  # noqa: E402

HOSTS = {"brokers": "10.79.0.1", "controller": "10.79.0.2", "agent1": "10.79.0.3", "agent2": "10.79.0.4"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class NetworkNamespaces(unittest.TestCase):
    """Four hosts on a bridge that is itself in a namespace, so that nothing touches the machine's own network."""

    def setUp(self):
        self.tag = f"bk{os.getpid() % 10000}"
        self.spaces = {host: f"{self.tag}-{host}" for host in HOSTS}
        switch = f"{self.tag}-switch"
        self.addCleanup(lambda: [subprocess.run(["ip", "netns", "del", s], check=False, capture_output=True)
                                 for s in [*self.spaces.values(), switch]])
        run("ip", "netns", "add", switch)
        run(*within(switch), "ip", "link", "add", "br0", "type", "bridge")
        run(*within(switch), "ip", "link", "set", "br0", "up")
        for number, (host, space) in enumerate(self.spaces.items()):
            run("ip", "netns", "add", space)
            run(*within(space), "ip", "link", "set", "lo", "up")
            run(*within(switch), "ip", "link", "add", f"p{number}", "type", "veth", "peer", "name", "eth0", "netns", space)
            run(*within(switch), "ip", "link", "set", f"p{number}", "master", "br0", "up")
            run(*within(space), "ip", "addr", "add", f"{HOSTS[host]}/24", "dev", "eth0")
            run(*within(space), "ip", "link", "set", "eth0", "up")
        folder = tempfile.TemporaryDirectory(prefix="brink-netns-", dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.token = self.folder / "token"
        self.token.write_text("a-token-for-this-test\n")
        self.token.chmod(0o600)

    def curl(self, *arguments):
        return run(*within(self.spaces["controller"]), "curl", "-sS", "-H", "Authorization: Bearer a-token-for-this-test", *arguments)

    def test_sweep(self):
        with Kafka("--profile", "io-bound", "--netns", self.spaces["brokers"], "--bind", HOSTS["brokers"]) as kafka:
            agents = ""
            for host in ("agent1", "agent2"):
                program = Program(host, [BIN / "brink-agent", "--listen", f"{HOSTS[host]}:8700", "--token-file", self.token],
                                  self.folder, netns=self.spaces[host])
                self.addCleanup(program.kill)
                agents += f'[[agents]]\nname = "{host}"\nurl = "http://{HOSTS[host]}:8700"\ntoken_file = "{self.token}"\n'
            config = self.folder / "brink.toml"
            config.write_text(f'listen = "{HOSTS["controller"]}:8600"\ntoken_file = "{self.token}"\n'
                              f'database = "{self.folder}/b.sqlite"\n{kafka.toml}\n{agents}')
            daemon = Program("brinkd", [BIN / "brinkd", "--config", config], self.folder, netns=self.spaces["controller"])
            self.addCleanup(daemon.kill)
            api = f"http://{HOSTS['controller']}:8600/api/v1"
            time.sleep(2)
            unauthorised = run(*within(self.spaces["agent1"]), "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", api + "/sweeps")
            self.assertEqual(unauthorised, "401")
            spec = json.dumps({"cluster": "local", "message_bytes": [int(s) for s in os.environ.get("BRINK_SIZES", "100000").split(",")],
                               "margin": 0.15, "strategy": "guided", "trial": SHORT_TRIALS})
            started = json.loads(self.curl("-X", "POST", "-H", "Content-Type: application/json", "-d", spec, api + "/sweeps"))
            self.assertIn("id", started, started)
            deadline = time.monotonic() + 900
            while True:
                sweep = json.loads(self.curl(f"{api}/sweeps/{started['id']}"))
                if sweep["state"] in ("succeeded", "failed", "cancelled"):
                    break
                self.assertLess(time.monotonic(), deadline, "the sweep does not end")
                time.sleep(2)
            for point in json.loads(self.curl(f"{api}/sweeps/{started['id']}/points"))["points"]:
                print(f"  point {point['message_bytes']} B [{point['lower_msgs_per_s']}, {point['upper_msgs_per_s']}] "
                      f"idle {point['worst_idle']} by {point['limited_by']} {point['state_reason']}", flush=True)
                self.assertEqual(point["limited_by"], "io_idle")
            self.assertEqual(sweep["state"], "succeeded", sweep["state_reason"])
            print(f"  {sweep['state']} in {sweep['elapsed_s']} s", flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
