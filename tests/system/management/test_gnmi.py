# SPDX-License-Identifier: BSD-3-Clause
"""gNMI as any client speaks it: stubs that protoc makes, Python's gRPC, a running fabric."""
import importlib
import json
import os
import shutil
import subprocess
import sys

import fabric_lab as lab
import pytest

PROTO = os.path.join(lab.ROOT, "lib", "control", "management")


@pytest.fixture(scope="module")
def g(tmp_path_factory):
    """The messages and stubs, generated."""
    plugin = shutil.which("grpc_python_plugin")
    if plugin is None:
        pytest.skip("grpc_python_plugin is not installed")
    out = str(tmp_path_factory.mktemp("stubs"))
    subprocess.run(["protoc", f"-I{PROTO}", f"--python_out={out}", f"--grpc_out={out}", f"--plugin=protoc-gen-grpc={plugin}",
                    f"{PROTO}/gnmi.proto", f"{PROTO}/gnmi_ext.proto"], check=True, timeout=60)
    sys.path.insert(0, out)
    yield importlib.import_module("gnmi_pb2")
    sys.path.remove(out)


@pytest.fixture(scope="module")
def grpc():
    return pytest.importorskip("grpc")


@pytest.fixture
def stub(fabric, g, grpc):
    with grpc.insecure_channel(f"unix:/run/frond/{fabric.name}/mgmt.sock") as channel:
        yield importlib.import_module("gnmi_pb2_grpc").gNMIStub(channel)


def path(g, text, origin=""):
    """/a/b[k=v]/c; no '/' in values."""
    p = g.Path(origin=origin)
    for part in text.strip("/").split("/"):
        name, *keys = part.split("[")
        p.elem.add(name=name, key=dict(k.rstrip("]").split("=", 1) for k in keys))
    return p


def get(stub, g, text, origin="", encoding="JSON_IETF"):
    answer = stub.Get(g.GetRequest(path=[path(g, text, origin)], encoding=g.Encoding.Value(encoding)), timeout=10)
    return [(u.path, u.val) for u in answer.notification[0].update]


def test_capabilities(stub, g):
    answer = stub.Capabilities(g.CapabilityRequest(), timeout=10)
    assert answer.gNMI_version == "0.10.0"
    assert {"openconfig-interfaces", "frond"} <= {m.name for m in answer.supported_models}
    assert {g.JSON, g.JSON_IETF, g.PROTO} == set(answer.supported_encodings)


def test_counters_are_those_of_status(fabric, stub, g):
    """Each OpenConfig leaf of each port, next to what frond status says a moment later."""
    fabric.run("exec", "h1", "--", "ping", "-c", "5", "-i", "0.01", "-q", "h4")
    counters = {}
    for where, value in get(stub, g, "/interfaces/interface[name=*]/state/counters"):
        counters[where.elem[1].key["name"]] = {k.split(":")[-1]: int(v) for k, v in json.loads(value.json_ietf_val).items()}
    later = fabric.interfaces()
    assert set(counters) == set(later)
    for port, leaves in counters.items():
        for leaf, value in leaves.items():
            if leaf != "last-clear":
                assert value <= later[port]["counters"][leaf.replace("-", "_")], (port, leaf)
        # Links between switches always carry something: BFD.
        assert leaves["in-pkts"] > 0 and leaves["in-octets"] >= 64 * leaves["in-pkts"]


def test_every_path_of_the_golden_list_answers(stub, g):
    with open(os.path.join(PROTO, "paths.golden")) as f:
        lines = [line.split()[0] for line in f]
    assert len(lines) > 90
    for line in lines:
        origin, text = line.split(":", 1)
        bare = "/".join(part.split("[")[0] for part in text.split("/"))
        for where, value in get(stub, g, bare, origin, "PROTO"):
            assert value.WhichOneof("value"), line
            assert "/".join(e.name for e in where.elem) == bare.strip("/")


def test_set_and_on_change(fabric, stub, g):
    """A link goes down by Set; a subscriber hears of both ends, and of nothing else."""
    subscription = g.Subscription(path=path(g, "/interfaces/interface[name=*]/state/oper-status"), mode=g.ON_CHANGE)
    stream = stub.Subscribe(iter([g.SubscribeRequest(subscribe=g.SubscriptionList(
        mode=g.SubscriptionList.STREAM, encoding=g.PROTO, subscription=[subscription]))]), timeout=30)
    first, heard = {}, {}
    for answer in stream:
        if answer.sync_response:
            stub.Set(g.SetRequest(update=[g.Update(path=path(g, "/interfaces/interface[name=leaf1:p3]/config/enabled"),
                                                   val=g.TypedValue(json_ietf_val=b"false"))]), timeout=10)
            continue
        into = heard if len(first) == len(fabric.interfaces()) else first
        for update in answer.update.update:
            into[update.path.elem[1].key["name"]] = update.val.string_val
        if len(heard) == 2:
            break
    stream.cancel()
    assert set(first.values()) == {"UP"}
    assert heard == {"leaf1:p3": "DOWN", "spine1:p1": "DOWN"}
    [(_, value)] = get(stub, g, "/interfaces/interface[name=leaf1:p3]/state/admin-status")
    assert json.loads(value.json_ietf_val) == "DOWN"


def test_impairment_by_set(fabric, stub, g):
    place = "/nodes/node[name=leaf1]/interfaces/interface[name=p4]/impairment"
    stub.Set(g.SetRequest(replace=[g.Update(path=path(g, place, "frond"), val=g.TypedValue(
        json_val=json.dumps({"config": {"loss": 0.25, "delay": 50000}}).encode()))]), timeout=10)
    [link] = [x for x in fabric.status()["links"] if {"node": "leaf1", "port": "p4"}.items() <= x["a"].items()
              or {"node": "leaf1", "port": "p4"}.items() <= x["b"].items()]
    end = link["a"] if link["a"]["node"] == "leaf1" else link["b"]
    assert (end["impairment"]["loss"], end["impairment"]["delay_ns"]) == (0.25, 50000)
    stub.Set(g.SetRequest(delete=[path(g, place, "frond")]), timeout=10)
    [(_, value)] = get(stub, g, place + "/config/loss", "frond", "PROTO")
    assert value.double_val == 0


@pytest.mark.parametrize("text, value, code, says", [
    ("/interfaces/interface[name=leaf7:p1]/config/enabled", b"false", "NOT_FOUND", "leaf7:p1"),
    ("/interfaces/interface[name=leaf1:p1]/state/oper-status", b'"DOWN"', "INVALID_ARGUMENT", "only config can be set"),
    ("/interfaces/interface[name=leaf1:p1]/config/enabled", b'"maybe"', "INVALID_ARGUMENT", "true or false"),
    ("/interfaces/interface[name=leaf1:p1]/config/colour", b"1", "NOT_FOUND", "colour"),
])
def test_wrong_sets_have_codes_and_sentences(stub, g, grpc, text, value, code, says):
    with pytest.raises(grpc.RpcError) as error:
        stub.Set(g.SetRequest(update=[g.Update(path=path(g, text), val=g.TypedValue(json_ietf_val=value))]), timeout=10)
    assert error.value.code().name == code
    assert says in error.value.details()


def test_garbage_harms_nobody(fabric, stub, g):
    """Bytes that are no gRPC, and requests that are no messages: the next client is served."""
    import socket
    log = f"/run/frond/{fabric.name}/log"
    before = os.path.getsize(log)
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 4096, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 1000):
        for _ in range(20):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(f"/run/frond/{fabric.name}/mgmt.sock")
                s.sendall(noise)
    assert stub.Capabilities(g.CapabilityRequest(), timeout=10).gNMI_version
    assert os.path.getsize(log) == before  # nobody can fill the log
