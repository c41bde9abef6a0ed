#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The JSON schema and the loader agree: what loads passes the schema; what the loader refuses for
its keys, types or bounds fails it. (What only the whole file shows, such as a port used twice, no
schema can say.)"""
import json
import pathlib
import re
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/config"
# How the loader words what a schema sees too.
SEEN = re.compile(
    r"unknown key|: '[^']*' is not (one of|a |true)|must be at (least|most) \d+, not -?\d+$"
    r"|lacks '(version|a|pattern)'|topology lacks 'type'|expected |is not known to this Frond"
)


class Loader(yaml.SafeLoader):
    """YAML 1.2 scalars, as the loader and editors read them: only true and false are booleans, and
    there are neither times nor sexagesimal numbers."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers
            if tag.rsplit(":", 1)[1] not in ("bool", "int", "float", "timestamp", "merge")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for tag, regexp, first in (
    ("bool", r"^(true|false)$", "tf"),
    ("int", r"^([-+]?[0-9]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    ("float", r"^[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?$", "-+.0123456789"),
):
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(regexp), list(first))


def load(path):
    return yaml.load(path.read_bytes(), Loader=Loader)


def main():
    schema = json.loads((ROOT / "configs/frond.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = []
    good = sorted((ROOT / "configs").glob("*.yaml")) + sorted((HERE / "good").glob("*.yaml"))
    for path in good:
        for error in validator.iter_errors(load(path)):
            failures.append(f"{path.name}: loads, but the schema says: {error.message[:160]}")
    refused = 0
    for path in sorted((HERE / "bad-configs").glob("*.yaml")):
        said = path.with_suffix(".expect").read_text().replace("\n    ", " ")
        errors = [line for line in said.splitlines() if ": error: " in line]
        try:
            document = load(path)
        except (yaml.YAMLError, UnicodeError, ValueError):
            continue
        if any("is already in line" in e or "nested more" in e for e in errors):
            continue  # what PyYAML takes
        seen = any(SEEN.search(e) for e in errors)
        valid = validator.is_valid(document)
        if seen and valid:
            failures.append(f"{path.name}: the schema accepts what the loader refuses: {errors[0]}")
        refused += seen and not valid
    if refused < 25:
        failures.append(f"only {refused} bad files fail the schema")
    for failure in failures:
        print(failure)
    print(f"{len(good)} good files, {refused} bad ones refused by the schema")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
