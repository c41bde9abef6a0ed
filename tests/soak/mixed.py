#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams of all sizes with known content.

  mixed.py send ADDRESS PORT --mtu N --seconds S --rate PACKETS   prints how many were sent
  mixed.py receive PORT                                           until SIGTERM; prints what came"""
import argparse
import json
import select
import signal
import socket
import struct
import time

HEAD = struct.Struct("!II")  # sequence, length of the payload
HEADERS = 28  # IPv4 and UDP
SO_RCVBUFFORCE = 33  # asm-generic/socket.h
BODY = bytes(range(251)) * 300


def payload(sequence, length):
    start = sequence % 251
    return HEAD.pack(sequence, length) + BODY[start:start + length - HEAD.size]


def size(sequence, mtu):
    """All of them, small ones, large ones and the largest in turn."""
    largest = mtu - HEADERS
    return (HEAD.size + sequence % 120, HEAD.size + sequence * 37 % (largest - HEAD.size + 1), largest)[sequence % 3]


def send(args):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((args.address, args.port))
    start, sent, refused = time.monotonic(), 0, 0
    for sequence in range(int(args.seconds * args.rate)):
        wait = start + sequence / args.rate - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        try:
            sock.send(payload(sequence, size(sequence, args.mtu)))
            sent += 1
        except OSError:
            refused += 1
    print(json.dumps({"sent": sent, "refused": refused}))


def receive(args):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    sock.bind(("", args.port))
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    print("ready", flush=True)
    seen, wrong, twice, longest = bytearray(), 0, 0, 0
    while True:
        if not select.select([sock], [], [], 0.05)[0]:
            if stop:
                break
            continue
        data = sock.recv(65536)
        sequence, length = HEAD.unpack_from(data)
        if data != payload(sequence, length):
            wrong += 1
            continue
        longest = max(longest, length + HEADERS)
        if sequence >= len(seen):
            seen.extend(bytes(sequence + 1 - len(seen)))
        twice += seen[sequence]
        seen[sequence] = 1
    print(json.dumps({"received": sum(seen), "wrong": wrong, "twice": twice, "longest": longest}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    s = commands.add_parser("send")
    s.add_argument("address")
    s.add_argument("port", type=int)
    s.add_argument("--mtu", type=int, required=True)
    s.add_argument("--seconds", type=float, required=True)
    s.add_argument("--rate", type=float, required=True)
    s.set_defaults(run=send)
    r = commands.add_parser("receive")
    r.add_argument("port", type=int)
    r.set_defaults(run=receive)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
