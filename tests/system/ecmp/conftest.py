# SPDX-License-Identifier: BSD-3-Clause
"""The switches under test and the far ends of their ports, as two programs joined by nine ports of one kind."""
import json
import os
import subprocess
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("FROND_BUILD", os.path.join(ROOT, "build", "release"))
PORTS = 9  # the ingress, and as many ways out as the widest group has
KINDS = ["af_packet", "af_xdp", "tap", "vhost"]


def ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=30, text=True)


class Program:
    def __init__(self, name, ports):
        self.name = name
        self.process = subprocess.Popen([os.path.join(BUILD, "tests", "system", "ecmp", name), *ports], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name}: {self.process.stderr.read().strip()}")
        return line

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        """The packets that it had left, which it counts once its input has ended."""
        out, err = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, err
        return json.loads(out)["left"]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Lab:
    def __init__(self, kind, directory):
        self.kind, self.directory = kind, directory
        self.prefix = f"frondecmp{os.getpid()}-"
        self.namespaces, self.programs = [], []

    def namespace(self, name):
        ip("netns", "add", self.prefix + name)
        self.namespaces.append(self.prefix + name)
        # Their kernels have nothing to say on these links.
        subprocess.run(["ip", "netns", "exec", self.prefix + name, "sysctl", "-qw",
                        "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"], check=True, timeout=30)
        return self.prefix + name

    def start(self):
        numbers = range(PORTS)
        if self.kind == "vhost":
            self.switches = self.run("ecmp_switches", [f"vhost:{self.directory}/s{i}" for i in numbers])
            self.flows = self.run("ecmp_flows", [f"virtio-user:{self.directory}/s{i}" for i in numbers])
            return
        far = self.namespace("far")
        if self.kind == "tap":
            self.switches = self.run("ecmp_switches", [f"tap:p{i}@{far}" for i in numbers])
        else:
            near = self.namespace("near")
            for i in numbers:
                ip("-n", near, "link", "add", f"p{i}", "type", "veth", "peer", "name", f"p{i}", "netns", far)
                ip("-n", near, "link", "set", f"p{i}", "up")
            self.switches = self.run("ecmp_switches", [f"{self.kind}:p{i}@{near}" for i in numbers])
        for i in numbers:
            ip("-n", far, "link", "set", f"p{i}", "up")
        self.flows = self.run("ecmp_flows", [f"packet:p{i}@{far}" for i in numbers])

    def run(self, name, ports):
        self.programs.append(Program(name, ports))
        return self.programs[-1]

    def send(self, paths, tiers, seed, flows, rounds, equal=False):
        """What the switches counted, and what became of each flow; no packet may have been lost."""
        self.switches.ask(paths, tiers, seed, int(equal))
        seen = json.loads(self.flows.ask(paths, seed, flows, rounds))
        counted = json.loads(self.switches.ask("?"))
        end = time.monotonic() + 5
        while seen["received"] < sum(counted["out"]) and time.monotonic() < end:
            seen = json.loads(self.flows.ask("+"))
            counted = json.loads(self.switches.ask("?"))
        return counted, seen

    def stop(self):
        return [p.close() for p in reversed(self.programs)]

    def clean(self):
        for program in self.programs:
            program.kill()
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "del", name], check=False, timeout=30)


@pytest.fixture(scope="module", params=KINDS)
def lab(request, tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    lab = Lab(request.param, tmp_path_factory.mktemp("ecmp"))
    try:
        lab.start()
        yield lab
        assert lab.stop() == [0, 0]  # every packet is back in its pool
    finally:
        lab.clean()
