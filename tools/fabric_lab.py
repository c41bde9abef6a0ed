# SPDX-License-Identifier: BSD-3-Clause
"""A running fabric, as the demo and the system tests use it: through `frond`, as a person would."""
import glob
import json
import os
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("FROND_BUILD", os.path.join(ROOT, "build", "release"))
FROND = os.path.join(BUILD, "lib", "cli", "frond")
FABRICD = os.path.join(BUILD, "lib", "fabric", "fabricd")
PROBE = os.path.join(ROOT, "tools", "probe.py")
PYTHON = "/usr/bin/python3"
os.environ.setdefault("FROND_FABRICD", FABRICD)
os.environ.setdefault("FROND_CONFIG_DIR", os.path.join(ROOT, "configs"))


class Failed(Exception):
    """What was tried and did not work, in a sentence."""


def frond(*words, check=True, timeout=60, **options):
    done = subprocess.run([FROND, *words], timeout=timeout, text=True, errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)
    if check and done.returncode != 0:
        raise Failed(f"frond {' '.join(words)}: exit status {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done


def eventually(condition, seconds=10.0, pause=0.02):
    """What condition() gave, as soon as that is true; else what it gave last."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)


def alive(pid):
    """Does it run? One that has ended and only waits to be reaped by another does not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def fabricds():
    """Process ids of all fabric daemons of this machine."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path) as f:
                program = f.read().split("\0")[0]
        except OSError:
            continue
        if os.path.basename(program) == "fabricd" and alive(int(path.split("/")[2])):
            found.add(f"process {path.split('/')[2]} ({program})")
    return found


def machine():
    """What a fabric could leave behind, as a set of sentences."""
    places = ("/run/netns/*", "/sys/class/net/*", "/run/frond/*", "/dev/shm/*", "/var/run/dpdk/*", "/dev/hugepages/*")
    with open("/proc/self/mounts") as f:
        mounts = {f"mount {line.split()[1]}" for line in f}
    return {p for place in places for p in glob.glob(place)} | mounts | fabricds()


def left(before, mine="", seconds=3.0):
    """What is there now and was not before; with `mine`, only what has that in its name."""
    def new():
        return sorted(x for x in machine() - before if mine in x)
    eventually(lambda: not new(), seconds, 0.1)
    return new()


class Fabric:
    def __init__(self, name):
        self.name = name
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for child in self.children:
            stop(child)
        self.children = []
        if os.path.exists(f"/run/frond/{self.name}") or glob.glob(f"/run/netns/{self.name}-*"):
            frond("down", self.name, check=False)

    def up(self, file):
        return frond("up", str(file), "--name", self.name).stdout

    def run(self, command, *words, **options):
        """frond COMMAND, of this fabric."""
        return frond(command, "--name", self.name, *words, **options)

    def json(self, command, *words, **options):
        return json.loads(self.run(command, "--json", *words, **options).stdout)

    def exec(self, host, *command, **options):
        return self.run("exec", host, "--", *command, **options)

    def start(self, host, *command, **options):
        """A program in a host, in the background; ends with the fabric at the latest."""
        child = subprocess.Popen([FROND, "exec", "--name", self.name, host, "--", *command], text=True, errors="replace",
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True, **options)
        self.children.append(child)
        return child

    def status(self):
        return self.json("status")

    def events(self):
        return [json.loads(line) for line in self.run("events", "--json").stdout.splitlines()]

    def hosts(self):
        """Name -> (IPv4 address, IPv6 address), in the order of the file."""
        found = {}
        for node in self.status()["nodes"]:
            if node["kind"] == "host":
                addresses = [a.split("/")[0] for i in node["interfaces"] for a in i["addresses"]]
                found[node["name"]] = (next(a for a in addresses if ":" not in a),
                                       next(a for a in addresses if ":" in a))
        return found

    def interfaces(self):
        """NODE:PORT -> what status says about it."""
        return {f"{n['name']}:{i['name']}": i for n in self.status()["nodes"] for i in n["interfaces"]}

    def sent(self, *ports):
        """Unicast frames sent by each of the ports: no announcements in it, BFD's few are."""
        all_ports = self.interfaces()
        return [all_ports[p]["counters"]["out_unicast_pkts"] for p in ports]

    def drops(self):
        """(stage, reason) -> packets, over all nodes; what never happened is not in it."""
        found = {}
        for interface in self.interfaces().values():
            for drop in interface["drops"]:
                if drop["packets"]:
                    key = (drop["stage"], drop["reason"])
                    found[key] = found.get(key, 0) + drop["packets"]
        return found

    def lost_time(self):
        """Nanoseconds of line time that the CPU could not keep up with."""
        return self.status()["fabric"]["lost_ns"]

    def wait_links(self, seconds=5.0):
        ok = eventually(lambda: all(link["up"] for link in self.status()["links"]) and
                        all(i["oper"] == "up" for i in self.interfaces().values()), seconds)
        if not ok:
            down = [p for p, i in self.interfaces().items() if i["oper"] != "up"]
            raise Failed(f"after {seconds:g} s there are ports that are not up: {' '.join(down)}")

    def ping(self, host, address, *options, count=2):
        """(received, text); packets are 50 ms apart."""
        done = self.exec(host, "ping", "-n", "-c", str(count), "-i", "0.05", "-W", "2", *options, address, check=False)
        for line in done.stdout.splitlines():
            if " received" in line:
                return int(line.split(" received")[0].split()[-1]), done.stdout + done.stderr
        return 0, done.stdout + done.stderr

    def iperf_server(self, host, port=5201):
        server = self.start(host, "iperf3", "-s", "-1", "-p", str(port), "--forceflush")
        for line in server.stdout:
            if "listening" in line:
                return server
        raise Failed(f"iperf3 -s in {host} ended: {server.stderr.read().strip()}")

    def iperf(self, client, server, address, *options, seconds=1, port=5201):
        """The report of iperf3, which is JSON."""
        listening = self.iperf_server(server, port)
        done = self.exec(client, "iperf3", "-c", address, "-p", str(port), "-t", str(seconds), "-J", *options,
                         check=False, timeout=seconds + 30)
        stop(listening, patience=2.0)
        report = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
        if "error" in report:
            raise Failed(f"iperf3 from {client} to {server}: {report['error']}")
        return report

    def probe(self, source, target, address, **options):
        return Probe(self, source, target, address, **options)


class Probe:
    """Numbered datagrams on their way; finish() says what became of them."""

    def __init__(self, fabric, source, target, address, seconds=1.0, interval_us=1000, flows=1, port=7000):
        family = "6" if ":" in address else "4"
        self.fabric = fabric
        self.interval_ms = interval_us / 1000
        self.flows = flows
        self.receiver = fabric.start(target, PYTHON, PROBE, "receive", str(port), "--family", family)
        if self.receiver.stdout.readline().strip() != "ready":
            raise Failed(f"probe.py receive in {target} ended: {self.receiver.stderr.read().strip()}")
        self.lost_time = fabric.lost_time()
        self.sender = fabric.start(source, PYTHON, PROBE, "send", address, str(port), "--seconds", str(seconds),
                                   "--interval-us", str(interval_us), "--flows", str(flows))

    def finish(self):
        sent, error = self.sender.communicate(timeout=120)
        if self.sender.returncode != 0:
            raise Failed(f"probe.py send: {error.strip()}")
        time.sleep(0.1)
        self.receiver.send_signal(signal.SIGTERM)
        got, error = self.receiver.communicate(timeout=30)
        if self.receiver.returncode != 0:
            raise Failed(f"probe.py receive: {error.strip()}")
        report = {**json.loads(got), **json.loads(sent)}
        # What was lost at the end of a flow has no later datagram to tell the receiver of it.
        report["lost"] = report["sent"] + report["refused"] - report["received"] + report["duplicates"]
        # A flow whose end is missing was cut for as long as that takes.
        missing = report["rounds"] - 1 - (report["lowest_end"] if report["flows"] == self.flows else -1)
        report["loss_window_ms"] = max(report["loss_window_ms"], (missing + 1) * self.interval_ms if missing else 0)
        report["cpu_bound_ms"] = (self.fabric.lost_time() - self.lost_time) / 1e6
        return report


def stop(child, patience=0.0):
    """Ends a child that does not end by itself within `patience` seconds."""
    for end, seconds in ((lambda: None, patience), (child.terminate, 3.0), (child.kill, 10.0)):
        if child.poll() is None:
            end()
            try:
                child.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                continue
    for stream in (child.stdout, child.stderr):
        if stream and not stream.closed:
            stream.close()


def mbps(report):
    """Received, of an iperf3 report."""
    return report["end"]["sum_received"]["bits_per_second"] / 1e6


def retransmits(report):
    return report["end"]["sum_sent"].get("retransmits", 0)
