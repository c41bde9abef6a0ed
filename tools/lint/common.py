# SPDX-License-Identifier: BSD-3-Clause
"""What every lint stands on: the project's files as a value, findings, a cache by content."""
import hashlib
import json
import os
import re
import subprocess
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

Finding = namedtuple("Finding", "path line message")
CXX = (".cpp", ".hpp", ".h", ".c")


class Tree:
    """Paths and texts. A self-test makes one of planted files, `from_git` one of the checkout."""

    def __init__(self, files, root=None):
        self.files, self.root, self._code, self._closure = files, root, {}, {}

    @classmethod
    def from_git(cls, root):
        listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root,
                                check=True, capture_output=True, text=True).stdout
        files = {}
        for path in sorted(filter(None, listed.split("\0"))):
            full = os.path.join(root, path)
            if os.path.isfile(full) and not os.path.islink(full):
                with open(full, "rb") as f:
                    raw = f.read()
                if b"\0" not in raw:
                    files[path] = raw.decode("utf-8", "replace")
        return cls(files, root)

    def paths(self, *suffixes):
        return [p for p in self.files if not suffixes or p.endswith(suffixes)]

    def text(self, path):
        return self.files[path]

    def code(self, path):
        """The text without comments and the insides of strings; lines keep their numbers."""
        if path not in self._code:
            self._code[path] = _TOKEN.sub(_blank, self.files[path])
        return self._code[path]

    def lines(self, path):
        return enumerate(self.code(path).split("\n"), 1)

    def includes(self, path):
        """(line, path) of each file of ours that this one includes."""
        for number, line in enumerate(self.files[path].split("\n"), 1):
            m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if m:
                here = os.path.dirname(path)
                for base in ("lib", "", here):
                    found = os.path.normpath(os.path.join(base, m[1]))
                    if found in self.files:
                        yield number, found
                        break

    def closure(self, path):
        """The file and all of ours that it includes, directly or not."""
        if path not in self._closure:
            seen, todo = {path}, [path]
            while todo:
                for _, other in self.includes(todo.pop()):
                    if other not in seen:
                        seen.add(other)
                        todo.append(other)
            self._closure[path] = seen
        return self._closure[path]

    def digest(self, path, *more):
        """Changes when the file, what it includes, or `more` changes."""
        h = hashlib.sha256()
        for item in sorted(self.closure(path)):
            h.update(item.encode() + b"\0" + self.files[item].encode())
        for item in more:
            h.update(b"\0" + item.encode())
        return h.hexdigest()


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def _blank(match):
    text = match[0]
    if text[0] in "\"'":
        # A digit separator (1'000) is no character.
        return text[0] * 2 if text[0] == '"' or len(text) < 8 else text
    return re.sub(r"[^\n]", " ", text)


def is_test(path):
    """Tests and measurements may do what the product must not."""
    return path.startswith(("tests/", "perf/", "tools/")) or \
        re.search(r"_(test|bench|fuzz)\.[ch]pp$", path) is not None


def room_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "lib" and len(parts) > 2 else parts[0]


class Cache:
    """What was found clean is not looked at again until it changes. A finding is: it may be the machine's."""

    def __init__(self, name):
        where = os.environ.get("FROND_LINT_CACHE") or os.path.join("build", "lint")
        self.path, self.known, self.used = os.path.join(where, name + ".json"), {}, {}
        try:
            with open(self.path) as f:
                self.known = json.load(f)
        except (OSError, ValueError):
            pass

    def run(self, jobs, work, progress=None):
        """jobs: {key: item}. Yields the findings of work(item), several at a time."""
        missing = {k: v for k, v in jobs.items() if self.known.get(k) != []}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = 0
            for key, found in zip(missing, pool.map(work, missing.values())):
                self.known[key] = [list(f) for f in found]
                done += 1
                if progress:
                    progress(done, len(missing))
                if done % 20 == 0:
                    self.save()
        self.save()
        for key in jobs:
            yield from (Finding(*f) for f in self.known[key])

    def save(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        part = f"{self.path}.{os.getpid()}"
        with open(part, "w") as f:
            json.dump(self.known, f)
        os.replace(part, self.path)
