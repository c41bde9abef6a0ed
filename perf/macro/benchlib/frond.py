# SPDX-License-Identifier: BSD-3-Clause
"""Frond: switch_bench, which puts together the same Switch as `frond up`."""

import json
import os

from . import traffic
from .contender import Contender
from .process import BenchError, Child, quote


class Frond(Contender):
    key = "frond"
    title = "Frond"

    def __init__(self, cpu, main_cpu, log_directory, build):
        super().__init__(cpu, main_cpu, log_directory)
        self.program = build / "perf" / "macro" / "switch_bench"

    def start(self, feed):
        if not os.access(self.program, os.X_OK):
            raise BenchError(f"{self.program} is not there: run `./dev build` first")
        # DRIVER:SOCKET:ARGUMENTS; Frond adds what it adds for `frond up`.
        ingress, *egress = [f"{d.driver}:{d.socket}:{'' if d.socket else d.arguments}"
                            for d in feed.devices]
        argv = [self.program, "--cpu", self.cpu, "--in", ingress, "--in-mac", traffic.INGRESS["mac"],
                "--in-address", traffic.INGRESS["address"], "--prefix", traffic.PREFIX]
        for device, path in zip(egress, traffic.PATHS):
            argv += ["--out", device, "--out-mac", path["mac"], "--out-address", path["address"],
                     "--gateway", path["gateway"], "--gateway-mac", path["neighbour"]]
        self.remember(quote(argv))
        self.child = Child(argv, self.log(), name="switch_bench",
                           cpus={self.main_cpu})
        self.child.wait_for(lambda line: line == "ready", 60)

    def go(self):
        self.child.say("start")
        self.child.wait_for(lambda line: line == "started")

    def _ask(self, question):
        self.child.say(question)
        answer = self.child.wait_for(lambda line: line.startswith("{"))
        return json.loads(answer[-1])

    def process_id(self):
        return self.child.process.pid

    def sample(self):
        return self._ask("stats")["forwarded"]

    def dropped(self):
        return sum(self._ask("stats")["drops"].values())

    def detail(self):
        stats = self._ask("stats")
        return {"drops": {k: v for k, v in stats["drops"].items() if v},
                "packets_per_step": stats["packets_per_step"]}

    def stages(self):
        """Cycles a packet by stage, measured by the program on its own devices."""
        return self._ask("stages")

    def stop(self):
        self.child.stop("quit")
