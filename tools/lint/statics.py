# SPDX-License-Identifier: BSD-3-Clause
"""No mutable statics: many switches share a process. Relies on our format: namespaces don't indent."""
import re

from common import CXX, Finding, is_test

TYPE = r"[A-Za-z_][\w:<>,*& ]*[ *&>]"
STATIC = re.compile(rf"^\s*(?:inline\s+)?(?:static|thread_local)\s+{TYPE}(\w+)\s*(?:=|;|\{{|\[)")
GLOBAL = re.compile(rf"^(?:inline\s+)?{TYPE}(\w+)(?:\[[^]]*\])*\s*(?:=.*|\{{.*\}}\s*)?;")
# A signal handler can set nothing else (C++20 [support.signal]).
NOT_ONE = re.compile(r"\b(volatile (?:std::)?sig_atomic_t|const|constexpr|consteval|constinit const|using|typedef|return|extern|friend|namespace|"
                     r"static_assert|template|concept|struct|class|enum|union|goto|case|delete|throw)\b|^[#}]")


def check(tree):
    for path in tree.paths(*CXX):
        if is_test(path):
            continue
        for number, line in tree.lines(path):
            m = STATIC.match(line) or GLOBAL.match(line)
            if m and not NOT_ONE.search(line):
                yield Finding(path, number, f"{m[1]}: a mutable static; state belongs to an object")


_FOUND = ["static int count = 0;", "  static std::vector<int> all;", "int total;", "std::atomic<int> n{0};",
          "inline std::map<int, Foo> registry;", "thread_local Foo* current = nullptr;", "char buffer[64];"]
_CLEAN = ["static constexpr int kN = 1;", "static int f();", "static const Foo kAll[] = {", "  int member;",
          "constexpr Time kMax = Time::ms(1);", "static_assert(sizeof(int) == 4);", "using A = int;",
          "  static Foo parse(std::string_view);", "void f(int a, int b);", "Foo g() { return {}; }",
          "extern const int kX;", "volatile std::sig_atomic_t interrupted = 0;", "inline constexpr int kY{3};"]
PLANTED = [({"lib/link/a.hpp": line + "\n"}, [("lib/link/a.hpp", 1)]) for line in _FOUND] + \
    [({"lib/link/a.hpp": line + "\n"}, []) for line in _CLEAN]
