# SPDX-License-Identifier: BSD-3-Clause
"""What stands at the other ends of the cables: hosts that answer for their addresses and keep what they get."""
import time

from scapy.all import ARP, Dot1Q, Ether, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, IP, IPv6, Raw, UDP

MTU = 9000  # of each link


class Host:
    """10.0.N.1 and fd00:0:0:N::1, behind the switch's 10.0.N.0 and fd00:0:0:N::."""

    def __init__(self, nic):
        self.nic, self.number = nic, nic.number
        self.mac = f"02:00:00:00:01:{self.number:02x}"
        self.v4, self.v6 = f"10.0.{self.number}.1", f"fd00:0:0:{self.number}::1"
        self.gateway = f"10.0.{self.number}.0"
        self.switch = None  # the MAC address of its port
        self.frames = []

    def ask(self):
        """Who has the gateway? So each knows the other."""
        self.nic.send(bytes(Ether(src=self.mac, dst="ff:ff:ff:ff:ff:ff") /
                            ARP(op=1, hwsrc=self.mac, psrc=self.v4, pdst=self.gateway) / Raw(bytes(18))))

    def look(self):
        """Answers what asks for our addresses; keeps UDP."""
        for raw in self.nic.received():
            kind = raw[12:14]
            if kind == b"\x08\x06":
                self.take_arp(Ether(raw))
            elif kind == b"\x86\xdd" and raw[20] == 58:
                self.take_nd(Ether(raw))
            else:
                self.frames.append(raw)

    def take_arp(self, frame):
        arp = frame[ARP]
        if arp.op == 2 and arp.psrc == self.gateway:
            self.switch = arp.hwsrc
        elif arp.op == 1 and arp.pdst == self.v4:
            self.nic.send(bytes(Ether(src=self.mac, dst=arp.hwsrc) / ARP(
                op=2, hwsrc=self.mac, psrc=self.v4, hwdst=arp.hwsrc, pdst=arp.psrc) / Raw(bytes(18))))

    def take_nd(self, frame):
        if ICMPv6ND_NS in frame and frame[ICMPv6ND_NS].tgt == self.v6:
            self.nic.send(bytes(Ether(src=self.mac, dst=frame.src) / IPv6(src=self.v6, dst=frame[IPv6].src, hlim=255) /
                                ICMPv6ND_NA(tgt=self.v6, R=0, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=self.mac)))

    def to(self, other, size, family=4, tags=(), port=7000):
        """(what we send, what the other must get): all of it as sent, but the hop it took."""
        pair = []
        for hops, src, dst in ((64, self.mac, self.switch), (63, other.switch, other.mac)):
            head = Ether(src=src, dst=dst)
            for vlan, priority, kind in tags:
                head /= Dot1Q(vlan=vlan, prio=priority)
                head.lastlayer().underlayer.type = kind
            ip = IP(src=self.v4, dst=other.v4, ttl=hops, id=port) if family == 4 else \
                IPv6(src=self.v6, dst=other.v6, hlim=hops)
            bare = len(head / ip / UDP())
            body = bytes(i * 7 % 256 for i in range(max(0, size - bare)))
            pair.append(bytes(head / ip / UDP(sport=port, dport=7) / Raw(body)))
        return pair


def settle(hosts, done, seconds=5.0):
    """Looks after the hosts until done() or the time is over; what done() says then."""
    end = time.monotonic() + seconds
    while True:
        for host in hosts:
            host.look()
        if done() or time.monotonic() > end:
            return done()
        time.sleep(0.002)
