# SPDX-License-Identifier: BSD-3-Clause
"""Namespaces, veths and the cross-connect, which go with each test."""
import json
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("FROND_BUILD", os.path.join(ROOT, "build", "release"))
CROSSCONNECT = os.path.join(BUILD, "tests", "system", "ports", "crossconnect")


def sh(command, check=True, timeout=30):
    return subprocess.run(command, shell=True, check=check, timeout=timeout, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def eventually(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class Cross:
    """A running cross-connect."""

    def __init__(self, left, right, options=()):
        self.process = subprocess.Popen([CROSSCONNECT, *options, left, right], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read().strip())
        json.loads(line)
        self.base = {}  # drops from before there was anything to lose

    def look(self):
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def up(self):
        return [p["up"] for p in self.look()["ports"]]

    def drops(self):
        """What was dropped by name, on both ports."""
        all_drops = {}
        for port in self.look()["ports"]:
            for name, count in port["drops"].items():
                all_drops[name] = all_drops.get(name, 0) + count
        return all_drops

    def close(self):
        out, err = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, err
        return json.loads(out.splitlines()[-1])["left"]


class Lab:
    """Two hosts, a and b, and a namespace `mid` for the ends of their cables."""

    def __init__(self):
        self.prefix = f"frondports{os.getpid()}-"
        self.running = []

    def ns(self, name):
        return self.prefix + name

    def make(self, *names):
        for name in names:
            sh(f"ip netns add {self.ns(name)}")
            self.run(name, "ip link set lo up")
            self.run(name, "sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0")

    def run(self, name, command, **kw):
        return sh(f"ip netns exec {self.ns(name)} {command}", **kw)

    def veth(self, host, end, mtu=1500):
        """A veth with default settings: eth0 in the host, `end` in mid."""
        sh(f"ip -n {self.ns('mid')} link add {end} mtu {mtu} type veth peer name eth0 mtu {mtu} netns {self.ns(host)}")
        sh(f"ip -n {self.ns('mid')} link set {end} up")

    def address(self, host, last, mtu=None):
        ns = self.ns(host)
        if mtu:
            sh(f"ip -n {ns} link set eth0 mtu {mtu}")
        sh(f"ip -n {ns} link set eth0 up")
        sh(f"ip -n {ns} addr add 10.9.0.{last}/24 dev eth0")
        sh(f"ip -n {ns} addr add fd00:9::{last}/64 dev eth0 nodad")

    def cables(self, mtu=1500):
        self.make("a", "b", "mid")
        self.run("mid", "sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1")
        for i, host in enumerate("ab"):
            self.veth(host, f"p{i}", mtu)
            self.address(host, i + 1)

    def cross(self, left, right, options=()):
        cross = Cross(left, right, options)
        self.running.append(cross)
        return cross

    def ping(self, ns, address, count=3):
        return self.run(ns, f"ping -qnc{count} -i0.05 -W2 {address}", check=False)

    def iperf(self, source, target_ip, target, *options, seconds=1):
        """Bytes received and the sender's view, from one short iperf3 run."""
        server = subprocess.Popen(["ip", "netns", "exec", self.ns(target), "iperf3", "-s", "-1", "-J"],
                                  stdout=subprocess.DEVNULL)
        try:
            for _ in range(3):
                time.sleep(0.3)
                text = self.run(source, f"iperf3 -c {target_ip} -t {seconds} -J {' '.join(options)}", check=False)
                report = json.loads(text)
                if "error" not in report:
                    return report
            raise AssertionError(report["error"])
        finally:
            try:
                server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()

    def refused(self, *hosts):
        """What the hosts' kernels found wrong with what they received."""
        total = 0
        for host in hosts:
            lines = [line.split() for line in self.run(host, "cat /proc/net/snmp").splitlines()]
            for names, values in zip(lines[::2], lines[1::2]):
                total += sum(int(v) for n, v in zip(names, values) if n in ("InCsumErrors", "InErrs", "InHdrErrors"))
            for line in self.run(host, "cat /proc/net/snmp6").splitlines():
                name, value = line.split()
                if name in ("Udp6InCsumErrors", "Ip6InTruncatedPkts", "Ip6InHdrErrors"):
                    total += int(value)
        return total

    def clean(self):
        for cross in self.running:
            if cross.process.poll() is None:
                cross.process.kill()
            cross.process.wait()
            for stream in (cross.process.stdin, cross.process.stdout, cross.process.stderr):
                stream.close()
        for name in sh("ip netns list").splitlines():
            name = name.split()[0] if name.split() else ""
            if name.startswith(self.prefix):
                sh(f"ip netns del {name}")
