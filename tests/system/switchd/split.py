# SPDX-License-Identifier: BSD-3-Clause
"""A fabric of processes: a switchd in a namespace of its own for each switch, hosts as namespaces around them."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import fabric_lab as lab  # noqa: E402

SWITCHD = os.path.join(lab.BUILD, "switchd", "switchd")
SHIPPED = os.path.join(ROOT, "configs", "switchd-4.yaml")
SWITCHES = ("leaf1", "leaf2", "spine1", "spine2")
UPLINKS = {f"leaf{x}:p{2 + s}": f"spine{s}:p{x}" for x in (1, 2) for s in (1, 2)}


def sh(*words, check=True, timeout=30):
    done = subprocess.run(words, text=True, timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if check and done.returncode != 0:
        raise lab.Failed(f"{' '.join(words)}: {done.stdout.strip()}")
    return done.stdout


def port(end, driver, sockets):
    """What the file says of a port between switches."""
    if driver == "af_packet":
        return f"{{driver: af_packet, device: {end.replace(':', '-')}}}"
    leaf = end if end in UPLINKS else next(a for a, b in UPLINKS.items() if b == end)
    role = "server" if end == leaf else "client"
    return f"{{driver: memif, device: {sockets}/{leaf.replace(':', '-')}, role: {role}}}"


def four_hosts(driver, sockets, mtu=1500):
    """Two hosts a leaf at p1 and p2, the spines at p3 and p4, all links alike."""
    text = ["version: 1", "name: split", "nodes:"]
    for node in SWITCHES:
        text += [f"  {node}:", f"    type: {node[:-1]}", "    ports:"]
        number = int(node[-1])
        if node.startswith("leaf"):
            for p in (1, 2):
                text.append(f"      p{p}: {{driver: af_packet, device: h{2 * number - 2 + p}, mtu: {mtu}, addresses: "
                            f"[10.0.{number}.{2 * p}/31, \"fd00:0:0:{number}::{2 * p}/127\"]}}")
        mine = [e for e in (*UPLINKS, *UPLINKS.values()) if e.startswith(node + ":")]
        text += [f"      {e.split(':')[1]}: {port(e, driver, sockets)}" for e in sorted(mine)]
    text.append("links:")
    text += [f"  - {{a: \"{a}\", b: \"{b}\", mtu: {mtu}}}" for a, b in UPLINKS.items()]
    return "\n".join(text) + "\n"


def shipped(sockets):
    """configs/switchd-4.yaml: a host a leaf, one spine by veth and the other by memif."""
    with open(SHIPPED) as f:
        return f.read().replace("/run/frond/", f"{sockets}/")


class Split(lab.Fabric):
    """Speaks as lab.Fabric does; status, events and commands are per switch."""

    def __init__(self, name, directory, text):
        super().__init__(name)
        self.directory = str(directory)
        self.file = os.path.join(self.directory, "fabric.yaml")
        with open(self.file, "w") as f:
            f.write(text)
        self.daemons = {}
        self.program = SWITCHD
        self.made = []
        # device of a leaf -> (its node, IPv4, IPv6) for each port with addresses
        self.places = {}
        node = None
        for line in text.splitlines():
            if found := re.match(r"  (\w+):$", line):
                node = found[1]
            if found := re.search(r"device: (h\d).*addresses: \[([\d.]+)/31, \"([\da-f:]+)/127\"", line):
                self.places[found[1]] = (node, found[2], found[3])
        links = re.findall(r'a: "?(\w+:p\d)"?, b: "?(\w+:p\d)"?', text)
        self.cables = [(a.replace(":", "-"), b.replace(":", "-")) for a, b in links
                       if f"device: {a.replace(':', '-')}" in text]

    def ns(self, name):
        return f"{self.name}-{name}"

    def build(self):
        """Namespaces and cables; no switch runs yet."""
        for name in (*SWITCHES, *self.places):
            sh("ip", "netns", "add", self.ns(name))
            self.made.append(name)
            if name in SWITCHES:
                self.inside(name, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
            else:
                sh("ip", "-n", self.ns(name), "link", "set", "lo", "up")
        for a, b in self.cables:
            self.cable(a, b)
        for host, (leaf, v4, v6) in self.places.items():
            sh("ip", "-n", self.ns(leaf), "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns",
               self.ns(host))
            sh("ip", "-n", self.ns(leaf), "link", "set", host, "up")
            sh("ip", "-n", self.ns(host), "link", "set", "eth0", "up")
            for option, gateway, length in (("-4", v4, 31), ("-6", v6, 127)):
                head, last = re.match(r"(.*[.:])(\w*)$", gateway).groups()
                sh("ip", "-n", self.ns(host), "addr", "add", f"{head}{int(last or '0', 16) + 1:x}/{length}", "dev", "eth0",
                   *(["nodad"] if option == "-6" else []))
                sh("ip", option, "-n", self.ns(host), "route", "add", "default", "via", gateway)

    def cable(self, a, b):
        """A veth between two switches' namespaces; each end is called as its port."""
        sh("ip", "-n", self.ns(a.split("-")[0]), "link", "add", a, "type", "veth", "peer", "name", b, "netns",
           self.ns(b.split("-")[0]))
        for end in (a, b):
            sh("ip", "-n", self.ns(end.split("-")[0]), "link", "set", end, "up")

    def inside(self, name, *words, **options):
        return sh("ip", "netns", "exec", self.ns(name), *words, **options)

    def begin(self, node):
        """Starts a switchd and waits until it says that it is ready."""
        state = os.path.join(self.directory, "run", node)
        os.makedirs(state, exist_ok=True)
        ready, told = os.pipe()
        with open(os.path.join(self.directory, f"{node}.log"), "ab") as log:
            daemon = subprocess.Popen(["ip", "netns", "exec", self.ns(node), SWITCHD, "--node", node, self.file,
                                       "--state-dir", state, "--ready-fd", str(told)], pass_fds=(told,),
                                      stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        os.close(told)
        self.daemons[node] = daemon
        with os.fdopen(ready) as lines:
            said = [line.strip() for line in lines]
        if "ready" not in said:
            raise lab.Failed(f"switchd --node {node}: {said[-1:]}")

    def end(self, node, signal_number):
        """Sends the signal; the exit status."""
        daemon = self.daemons.pop(node)
        daemon.send_signal(signal_number)
        try:
            return daemon.wait(timeout=15)
        finally:
            lab.stop(daemon)

    def up(self, file=None):
        self.build()
        for node in SWITCHES:
            self.begin(node)
        self.wait_links(10.0)

    def close(self):
        for child in (*self.children, *self.daemons.values()):
            lab.stop(child)
        self.children, self.daemons = [], {}
        for name in self.made:
            sh("ip", "netns", "del", self.ns(name), check=False)
        self.made = []

    def command(self, node, command, *words, **options):
        """frond COMMAND, of one switch."""
        return lab.frond(command, "--name", node, *words, env={**os.environ, "FROND_RUN_DIR": f"{self.directory}/run"},
                         **options)

    def exec(self, host, *command, check=True, timeout=60):
        done = subprocess.run(["ip", "netns", "exec", self.ns(host), *command], text=True, errors="replace",
                              timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise lab.Failed(f"{' '.join(command)} in {host}: {done.stderr.strip()}")
        return done

    def start(self, host, *command, **options):
        child = subprocess.Popen(["ip", "netns", "exec", self.ns(host), *command], text=True, errors="replace",
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True, **options)
        self.children.append(child)
        return child

    def status_of(self, node):
        return json.loads(self.command(node, "status", "--json").stdout)

    def events_of(self, node):
        return [json.loads(line) for line in self.command(node, "events", "--json").stdout.splitlines()]

    def hosts(self):
        found = {}
        for host, (_, *gateways) in self.places.items():
            found[host] = tuple(re.sub(r"\w*$", lambda last: f"{int(last[0] or '0', 16) + 1:x}", g, count=1)
                                for g in gateways)
        return found

    def interfaces(self):
        """NODE:PORT -> what the switch itself says, of all that run."""
        found = {}
        for node in self.daemons:
            mine = next(n for n in self.status_of(node)["nodes"] if n["name"] == node)
            found.update({f"{node}:{i['name']}": i for i in mine["interfaces"]})
        return found

    def lost_time(self):
        return sum(self.status_of(node)["fabric"]["lost_ns"] for node in self.daemons)

    def wait_links(self, seconds=10.0):
        def down():
            return [p for p, i in self.interfaces().items() if i["oper"] != "up"]
        lab.eventually(lambda: not down(), seconds, 0.1)
        if left := down():
            raise lab.Failed(f"after {seconds:g} s there are ports that are not up: {' '.join(left)}")
