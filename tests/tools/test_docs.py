# SPDX-License-Identifier: BSD-3-Clause
"""The pages that are made from the sources say what the sources say."""
import os
import re
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "docs"))
import configuration  # noqa: E402
import drops  # noqa: E402
import gnmi  # noqa: E402


@pytest.mark.parametrize("page", [configuration, drops, gnmi], ids=lambda page: page.__name__)
def test_page_is_current(page):
    with open(os.path.join(ROOT, "docs", f"{page.__name__}.md")) as f:
        assert f.read() == page.render(ROOT), "run ./dev docs"


def test_every_option_is_on_the_page():
    with open(os.path.join(ROOT, "configs", "frond.schema.json")) as f:
        names = set(re.findall(r'"([a-z][a-z0-9_]*)": \{', f.read())) - {"properties", "items"}
    page = configuration.render(ROOT)
    missing = {name for name in names if not re.search(rf"[`.]{name}`", page)}
    assert len(names) > 60 and not missing


def test_every_list_is_read_whole():
    total = 0
    for path, array, rows in drops.lists(ROOT):
        with open(os.path.join(ROOT, path)) as f:
            body = re.search(re.escape(array) + r"\s*(?:=\s*)?\{\{(.*?)\}\};", f.read(), re.S)[1]
        named = re.findall(r'\{\s*"([a-z0-9_]+)"', body)
        assert [name for name, _, _ in rows] == named, f"{path}: {array}"
        assert named, f"{path}: {array} is empty"
        total += len(named)
    assert total > 50


def test_names_follow_the_rule():
    for path, _, rows in drops.lists(ROOT):
        for name, why, _ in rows:
            assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", name), f"{path}: {name} is not <proto>_<reason>"
            assert why and not why.endswith("."), f"{path}: {name}: one phrase, without a full stop"
