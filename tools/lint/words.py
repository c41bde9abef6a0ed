# SPDX-License-Identifier: BSD-3-Clause
"""Words that stand in one place only: clocks, chance, ethdev, copies of packets."""
import re
from collections import namedtuple

from common import CXX, Finding, is_test

Rule = namedtuple("Rule", "word where message tests_too unless", defaults=(False, r"$^"))
RULES = [
    Rule(r"rte_rdtsc\w*|rte_get_(tsc|timer)_cycles|clock_gettime|gettimeofday|"
         r"(steady|system|high_resolution)_clock(?!::time_point\(\))|\btime\((nullptr|NULL|0)\)",
         r"lib/engine/clock\.|lib/base/real_time\.hpp",
         "logic is told the time; engine/clock reads it, base/real_time waits for the outside"),
    Rule(r"\b(s?rand|random)\(|random_device|mt19937|default_random_engine|getrandom|arc4random|"
         r"\brte_rand\w*", r"lib/base/rng\.hpp", "chance comes from base/rng, seeded"),
    Rule(r"sleep_(for|until)|\b(u|nano|clock_nano)?sleep\(",
         r"lib/engine/worker\.|lib/base/real_time\.hpp",
         "only an idle worker sleeps; to wait for the outside see base/real_time"),
    Rule(r"\btimerfd_\w+", r"lib/(control|fabric|cli)/", "the kernel's timers are for what serves people"),
    Rule(r'#include "base/real_time', r"lib/(control|fabric|cli|dpdk|netdev)/|switchd/|nicd/",
         "real time is for what waits for the outside, never for logic"),
    Rule(r"\brte_eth_\w|\brte_ethdev", r"lib/dpdk/", "nobody but lib/dpdk sees ethdev"),
    Rule(r"\brte_pktmbuf_(clone|copy)\b", r"$^", "it loses the metadata: PacketPool::clone", True),
    Rule(r"\bunordered_(map|set|multimap)<|\bstd::hash\b", r"lib/(control|fabric|cli|dpdk|netdev)/",
         "its order is nobody's; if it is just looked up, say '// never iterated'", False, "never iterated"),
    Rule(r"#\s*define\s+(private|protected)\b", r"$^", "test behaviour, not insides", True),
]


def check(tree):
    for path in tree.paths(*CXX):
        rules = [r for r in RULES if not re.match(r.where, path) and (r.tests_too or not is_test(path))]
        raw = tree.text(path).split("\n")
        for number, line in tree.lines(path):
            # An include's name is a string: look at the line as it is.
            text = raw[number - 1] if "#include" in line else line
            for rule in rules:
                m = re.search(rule.word, text)
                if m and not re.search(rule.unless, raw[number - 1]):
                    yield Finding(path, number, f"{m[0]}: {rule.message}")


_FOUND = ["auto t = rte_rdtsc();", "auto t = std::chrono::steady_clock::now();", "int i = rand();",
          "std::random_device d;", "std::this_thread::sleep_for(x);", "nanosleep(&t, nullptr);",
          "#include <rte_ethdev.h>", "rte_eth_rx_burst(0, 0, b, n);", "rte_pktmbuf_clone(m, p);",
          '#include "base/real_time.hpp"', "std::unordered_map<int, int> m;"]
_CLEAN = ["rte_ether_addr a;  // rte_rdtsc", 'log("rand()");', "operand(1); run_time(0);",
          "std::unordered_map<int, int> m;  // never iterated"]
PLANTED = [({"lib/link/a.cpp": line + "\n"}, [("lib/link/a.cpp", 1)]) for line in _FOUND] + \
    [({"lib/link/a.cpp": line + "\n"}, []) for line in _CLEAN] + \
    [({"tests/a.cpp": "rte_pktmbuf_copy(m);\n"}, [("tests/a.cpp", 1)]),
     ({"lib/engine/clock.cpp": "rte_rdtsc();\n"}, [])]
