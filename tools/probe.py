#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Numbered UDP datagrams at a fixed pace, and what became of them.

  probe.py receive PORT [--family 4|6]             prints JSON when told to stop (SIGTERM) or after --seconds
  probe.py send ADDRESS PORT --seconds S [--interval-us N] [--flows N]

Each flow has a source port of its own, so that flows take different paths. The receiver reports how
many were lost and the loss window: of all flows, the longest time for which what was sent did not
arrive, from one departure that arrived to the next. Datagrams carry their time of departure, so a
sender or receiver that had to wait for its CPU is not taken for a loss.
"""
import argparse
import json
import select
import signal
import socket
import struct
import sys
import time

HEADER = struct.Struct("!IIQ")  # flow, sequence, send time (monotonic ns, one clock for the machine)


def receive(args):
    sock = socket.socket(socket.AF_INET6 if args.family == 6 else socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    sock.bind(("", args.port))
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    signal.signal(signal.SIGINT, lambda *_: stop.append(1))
    print("ready", flush=True)
    flows = {}
    duplicates = 0
    end = time.monotonic() + args.seconds
    while not stop and time.monotonic() < end:
        if not select.select([sock], [], [], 0.05)[0]:
            continue
        data = sock.recv(2048)
        now = time.monotonic_ns()
        flow, sequence, sent = HEADER.unpack_from(data)
        state = flows.setdefault(flow, {"received": 0, "highest": -1, "last": sent, "gap": 0,
                                        "reordered": 0, "delay": [], "seen": set()})
        if sequence in state["seen"]:
            duplicates += 1
        state["seen"].add(sequence)
        state["received"] += 1
        if sequence < state["highest"]:
            state["reordered"] += 1
        elif sequence > state["highest"] + 1:
            state["gap"] = max(state["gap"], sent - state["last"])
        state["highest"] = max(state["highest"], sequence)
        state["last"] = max(state["last"], sent)
        state["delay"].append(now - sent)
    delays = sorted(d for f in flows.values() for d in f["delay"])
    lost = sum(f["highest"] + 1 - len(f["seen"]) for f in flows.values())
    print(json.dumps({
        "flows": len(flows),
        "received": sum(f["received"] for f in flows.values()),
        "lost": lost,
        "lowest_end": min((f["highest"] for f in flows.values()), default=-1),
        "duplicates": duplicates,
        "reordered": sum(f["reordered"] for f in flows.values()),
        "loss_window_ms": max((f["gap"] for f in flows.values()), default=0) / 1e6,
        "flows_with_loss": sum(f["highest"] + 1 > len(f["seen"]) for f in flows.values()),
        "delay_us_p50": delays[len(delays) // 2] / 1e3 if delays else None,
        "delay_us_p99": delays[len(delays) * 99 // 100] / 1e3 if delays else None,
    }))


def send(args):
    family = socket.AF_INET6 if ":" in args.address else socket.AF_INET
    socks = []
    for _ in range(args.flows):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.connect((args.address, args.port))
        socks.append(sock)
    sent = refused = 0
    start = time.monotonic_ns()
    rounds = int(args.seconds * 1e6 / args.interval_us)
    for sequence in range(rounds):
        due = start + sequence * args.interval_us * 1000
        while (wait := due - time.monotonic_ns()) > 0:
            time.sleep(wait / 1e9)
        for flow, sock in enumerate(socks):
            try:
                sock.send(HEADER.pack(flow, sequence, time.monotonic_ns()) + bytes(64))
                sent += 1
            except OSError:
                refused += 1  # the local link is down: the receiver counts it as lost
    print(json.dumps({"rounds": rounds, "sent": sent, "refused": refused}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    r = commands.add_parser("receive")
    r.add_argument("port", type=int)
    r.add_argument("--family", type=int, choices=(4, 6), default=4)
    r.add_argument("--seconds", type=float, default=60)
    r.set_defaults(run=receive)
    s = commands.add_parser("send")
    s.add_argument("address")
    s.add_argument("port", type=int)
    s.add_argument("--seconds", type=float, required=True)
    s.add_argument("--interval-us", type=int, default=1000)
    s.add_argument("--flows", type=int, default=1)
    s.set_defaults(run=send)
    args = parser.parse_args()
    args.run(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
