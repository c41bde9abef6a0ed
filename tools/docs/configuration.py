#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""configuration.py: prints docs/configuration.md, made from configs/frond.schema.json (./dev docs writes it)."""
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TEXT = """# Configuration

One YAML file is a fabric: a generated topology, or nodes and links, or both (what is written under
`nodes` and `links` changes what the generator made). An option that is left out has its default; a
default in words says where the value comes from. `NAME` stands for a name that you choose, `[]` for
the elements of a list. `frond validate FILE` names every error by line and column.

Quantities have a unit: `10us`, `25G`, `64KiB`, `0.1%`. `configs/frond.schema.json` is the same for
editors; the first line `# yaml-language-server: $schema=frond.schema.json` makes yours complete and check.

Made from the sources by `./dev docs`; a test compares.
"""

PATTERNS = (("min|h", "time"), ("bit/s", "rate"), ("iB", "bytes"), ("%", "probability"),
            ("/[0-9]{1,3}", "address"), ("[0-9a-fA-F]{2}", "MAC address"))


def alternatives(schema):
    """The schema's alternatives, flat; without null and auto, which mean the default."""
    options = schema.get("anyOf", [schema])
    flat = [leaf for o in options for leaf in (alternatives(o) if "anyOf" in o else [o])]
    return [o for o in flat if o.get("type") != "null" and o.get("const") != "auto"]


def kind(schema):
    words = []
    for one in alternatives(schema):
        types = one.get("type", [])
        types = types if isinstance(types, list) else [types]
        if "const" in one:
            words.append(f"`{one['const']}`")
        elif "enum" in one:
            words.append(", ".join(f"`{value}`" for value in one["enum"] if value is not None))
        elif "pattern" in one:
            words.append(next((name for mark, name in PATTERNS if mark in one["pattern"]), "text"))
        elif "integer" in types:
            words.append(f"{one['minimum']} to {one['maximum']}" if "maximum" in one else "number")
        elif "array" in types:
            words.append(f"list of {kind(one['items'])}".removesuffix(" of "))
        elif "boolean" in types and len(types) == 1:
            words.append("true, false")
        elif "string" in types:
            words.append("text")
    return " or ".join(dict.fromkeys(words))


# These are said once.
IMPAIRMENT = {"blackhole"}


def option_names(schema):
    return {name for one in alternatives(schema) for name in one.get("properties", {})}


def impairment(schema):
    link = schema["properties"]["links"]["items"]["properties"]
    return {"properties": {"impair": link["impair"]}}


def rows(schema, prefix=""):
    """(path, description, values, default) of each option, in the schema's order."""
    for one in alternatives(schema):
        for name, option in one.get("properties", {}).items():
            if IMPAIRMENT & option_names(option) and prefix:
                yield prefix + name, option.get("description", ""), "[impair](#impair)", None
                continue
            yield prefix + name, option.get("description", ""), kind(option), option.get("default")
            yield from rows(option, f"{prefix}{name}.")
        if isinstance(one.get("additionalProperties"), dict):
            yield from rows(one["additionalProperties"], f"{prefix}NAME.")
        if "items" in one:
            yield from rows(one["items"], prefix.rstrip(".") + "[].")


def render(root):
    with open(os.path.join(root, "configs", "frond.schema.json")) as f:
        schema = json.load(f)
    sections = {}
    for path, text, values, default in [*rows(schema), *rows(impairment(schema))]:
        sections.setdefault(path.partition(".")[0].removesuffix("[]"), []).append((path, text, values, default))
    out = [TEXT]
    head = "| option | what | values | default |\n|---|---|---|---|"

    def line(path, text, values, default):
        # A default that depends on something is written at the end of the description.
        said = re.search(r" \(([^()]*)\)( \[[^\]]*\])?$", text)
        if default is None and said and "(" not in text[:said.start()]:
            default, text = said[1], text[:said.start()] + (said[2] or "")
            shown = default if " " in default else f"`{default}`"
        else:
            shown = "" if default is None else f"`{json.dumps(default) if isinstance(default, bool) else default}`"
        return f"| `{path}` | {text.replace('|', chr(92) + '|')} | {values} | {shown} |"

    out.append(head)
    out += [line(*rows_[0]) for top, rows_ in sections.items() if top in schema["properties"]]
    for top, rows_ in sections.items():
        if len(rows_) > 1:
            out += [f"\n## {top}\n", head, *(line(*row) for row in rows_[1:])]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    print(render(ROOT), end="")
