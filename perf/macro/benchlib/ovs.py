# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with DPDK: a private database and daemon, never the system's service."""

import os
import re
import time

from . import traffic
from .contender import Contender
from .process import BenchError, Child, quote, run

DAEMON = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
PORTS = ["in", "a", "b"]  # OpenFlow ports 1, 2, 3


def group():
    """Two ways, chosen by a hash over the 5-tuple; each rewrites the MACs."""
    buckets = ",".join(
        f"bucket=bucket_id:{i},actions=set_field:{path['mac']}->eth_src,"
        f"set_field:{path['neighbour']}->eth_dst,output:{i + 2}"
        for i, path in enumerate(traffic.PATHS))
    # selection_method=hash: one pass through the data path. The default (dp_hash) recirculates,
    # which is slower.
    return ("group_id=1,type=select,selection_method=hash,"
            f"fields(ip_src,ip_dst,nw_proto,udp_src,udp_dst),{buckets}")


def flow():
    return (f"table=0,priority=100,in_port=1,udp,dl_dst={traffic.INGRESS['mac']},"
            f"nw_dst={traffic.PREFIX},actions=dec_ttl,group:1")


class OpenVswitch(Contender):
    key = "ovs_dpdk"
    title = "Open vSwitch-DPDK"

    def start(self, feed):
        self.feed = feed
        # vhost-user sockets appear in the run directory, under their port's name.
        self.directory = feed.directory
        self.children = []
        self.env = {"OVS_RUNDIR": str(self.directory), "OVS_LOGDIR": str(self.directory),
                    "OVS_DBDIR": str(self.directory), "OVS_SYSCONFDIR": str(self.directory)}
        self._database()
        self._configure()
        self._daemon()
        bridge = self.directory / "br0.mgmt"
        self._wait_for(bridge)
        for argv in (["add-group", bridge, group()], ["add-flow", bridge, flow()]):
            command = ["ovs-ofctl", "-O", "OpenFlow15", *argv]
            self.remember(quote(command))
            run(command, env=self.env)

    def go(self):
        # The flows are there; now packets may come.
        self._add_port(0)
        self._wait_for_port("in")

    def process_id(self):
        return self.daemon.process.pid

    def sample(self):
        """Of pcap feeds: this Open vSwitch has no statistics of dpdkvhostuser ports. From the
        drivers themselves: the database's copy is refreshed every 5 s only."""
        return sum(sent for sent, _ in self._ports().values())

    def dropped(self):
        if self.feed.kind == "vhost":
            return 0
        return sum(drops for _, drops in self._ports().values())

    def detail(self):
        text = self._appctl("dpif-netdev/pmd-stats-show")
        found = re.search(r"avg processing cycles per packet: ([\d.]+)", text)
        text = text.partition("main thread:")[0]
        hits = {k: int(v) for k, v in re.findall(
            r"^\s+(emc hits|smc hits|megaflow hits|miss with success upcall): (\d+)", text, re.M)}
        return {"own_cycles_per_packet": float(found[1]) if found else None, "lookups": hits}

    def reset_detail(self):
        self._appctl("dpif-netdev/pmd-stats-clear")

    def stop(self):
        for child in reversed(self.children):
            # Closing the ports flushes what a pcap port has written.
            if child.name == "ovs-vswitchd":
                try:
                    self._appctl("exit", "--cleanup")
                    child.process.wait(10)
                except Exception:  # it may be gone already: stop() below does the rest
                    pass
            child.stop()
        self.children = []

    def _database(self):
        database = self.directory / "conf.db"
        run(["ovsdb-tool", "create", database, SCHEMA], env=self.env)
        self.socket = self.directory / "db.sock"
        self._spawn(["ovsdb-server", database, f"--remote=punix:{self.socket}",
                     f"--unixctl={self.directory}/db.ctl", f"--pidfile={self.directory}/db.pid"],
                    "ovsdb-server")
        self._wait_for(self.socket)

    def _configure(self):
        self._vsctl("init")
        self._vsctl("set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                    f"other_config:dpdk-lcore-mask={1 << self.main_cpu:#x}",
                    f"other_config:pmd-cpu-mask={1 << self.cpu:#x}",
                    # Every flow into the exact-match cache: the fastest lookup that it has.
                    "other_config:emc-insert-inv-prob=1",
                    'other_config:dpdk-extra="--in-memory --no-pci"')
        self._vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                    "fail-mode=secure")
        for index in (1, 2) if self.feed.kind == "pcap" else (0, 1, 2):
            self._add_port(index)

    def _daemon(self):
        if not os.access(DAEMON, os.X_OK):
            raise BenchError(f"{DAEMON} is not there: install openvswitch-switch-dpdk")
        # Its handlers and revalidators keep off the data path's core.
        self.daemon = self._spawn(
            [DAEMON, f"unix:{self.socket}", f"--unixctl={self.directory}/vs.ctl",
             f"--pidfile={self.directory}/vs.pid"], "ovs-vswitchd", cpus={self.main_cpu})
        self._wait_for(self.directory / "vs.ctl")
        for index in range(3):
            if self.feed.kind == "vhost" or index > 0:
                self._wait_for_port(PORTS[index])

    def _add_port(self, index):
        name = PORTS[index]
        if self.feed.kind == "vhost":
            kind = ["type=dpdkvhostuser"]
        else:
            kind = ["type=dpdk", f'options:dpdk-devargs="{self.feed.devargs()[index]}"']
        self._vsctl("--may-exist", "add-port", "br0", name, "--", "set", "interface", name, *kind,
                    f"ofport_request={index + 1}")

    def _wait_for_port(self, name):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            error = run(["ovs-vsctl", f"--db=unix:{self.socket}", "get", "interface", name, "error",
                         "ofport"], env=self.env).split("\n")
            if error[0] not in ("[]", ""):
                raise BenchError(f"Open vSwitch refuses port {name}: {error[0]}")
            if error[1] not in ("[]", "", "-1"):
                return
            time.sleep(0.1)
        raise BenchError(f"Open vSwitch does not take port {name}{self.daemon.tail()}")

    def _ports(self):
        """Of the ways out: (transmitted, dropped on transmit), by port name."""
        found = {}
        name = None
        for line in self._appctl("dpctl/show", "--statistics").splitlines():
            header = re.match(r"\s+port \d+: (\S+) \(", line)
            if header:
                name = header[1]
            sent = re.match(r"\s+TX packets:(\d+) errors:\S+ dropped:(\d+|\?)", line)
            if sent and name in PORTS[1:]:
                found[name] = (int(sent[1]), int(sent[2]) if sent[2] != "?" else 0)
        if len(found) != 2:
            raise BenchError(f"Open vSwitch shows ports {sorted(found)} only{self.daemon.tail()}")
        return found

    def _spawn(self, argv, name, cpus=None):
        self.remember(quote(argv))
        child = Child(argv, self.log(name), name=name, env=self.env, cpus=cpus)
        self.children.append(child)
        return child

    def _vsctl(self, *args):
        command = ["ovs-vsctl", f"--db=unix:{self.socket}", "--no-wait", *args]
        self.remember(quote(command))
        run(command, env=self.env)

    def _appctl(self, *args):
        return run(["ovs-appctl", "-t", self.directory / "vs.ctl", *args], env=self.env)

    def _wait_for(self, path):
        deadline = time.monotonic() + 20
        while not path.exists():
            for child in self.children:
                if child.process.poll() is not None:
                    raise BenchError(f"{child.name} ended early{child.tail()}")
            if time.monotonic() > deadline:
                raise BenchError(f"{path.name} did not appear within 20 s")
            time.sleep(0.05)
