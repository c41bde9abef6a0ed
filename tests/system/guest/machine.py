# SPDX-License-Identifier: BSD-3-Clause
"""A running guest: its NICs' outsides, its shell, its monitor."""
import ctypes
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time

import image

BOOT = 90.0  # seconds; emulated, on busy processors, it is slow
HUGEPAGES = 200  # of 2 MiB


class Failed(Exception):
    """What was tried and did not work, with what the guest said."""


class Nic:
    """A NIC in the guest, and the end of its cable here: a datagram socket, one frame each."""

    def __init__(self, number, model, options):
        self.number, self.model, self.options = number, model, options
        self.name = f"nic{number}"
        self.address = f"0000:{number:02x}:00.0"
        self.mac = f"52:54:00:00:00:{number:02x}"
        self.end, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.end.setblocking(False)
        for s in (self.end, self.theirs):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)

    def netdev(self):
        return f"dgram,id=net{self.number},local.type=fd,local.str={self.theirs.fileno()}"

    def device(self):
        return {"driver": self.model, "id": self.name, "netdev": f"net{self.number}", "mac": self.mac,
                "bus": f"rp{self.number}", **self.options}

    def send(self, frame, seconds=5.0):
        """QEMU takes frames while the guest has buffers for them; else it waits."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.end.send(frame)
            except BlockingIOError:
                if not select.select([], [self.end], [], max(0, end - time.monotonic()))[1]:
                    raise Failed(f"{self.name} has taken no frame for {seconds:g} s") from None
                time.sleep(0.0005)  # room in the buffer is not room in the peer's queue

    def received(self):
        """All frames that have come since last time."""
        frames = []
        while True:
            try:
                frames.append(self.end.recv(65536))
            except BlockingIOError:
                return frames


class Machine:
    """`iommu`: one is emulated, and interrupts are remapped. Gone with the `with`."""

    def __init__(self, nics, iommu, accel, memory=1024, boot=BOOT):
        kernel, initramfs = image.make()
        self.boot, self.buffer, self.asked = boot, b"", 0
        self.nics = nics
        self.log = tempfile.TemporaryFile()
        self.shell, shell = socket.socketpair()
        self.monitor, monitor = socket.socketpair()
        # CPU models as other guests of this kernel want them: nested KVM knows no arch-capabilities, and what
        # has no AVX is emulated faster.
        words = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                 "-machine", "q35,kernel-irqchip=split" if accel == "kvm" else "q35", "-m", str(memory), "-smp", "2",
                 "-accel", "kvm" if accel == "kvm" else "tcg,thread=multi",
                 "-cpu", "host,-arch-capabilities" if accel == "kvm" else "Nehalem",
                 "-kernel", kernel, "-initrd", initramfs,
                 "-append", "console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off nokaslr random.trust_cpu=on no_timer_check "
                            f"hugepages={HUGEPAGES}{' intel_iommu=on' if iommu else ''}",
                 "-serial", "stdio",
                 "-chardev", f"socket,id=monitor,fd={monitor.fileno()}", "-mon", "chardev=monitor,mode=control",
                 "-chardev", f"socket,id=shell,fd={shell.fileno()}",
                 *(["-device", "intel-iommu,intremap=on,aw-bits=48"] if iommu else []),
                 "-device", "virtio-serial-pci",
                 "-device", "virtserialport,chardev=shell,name=shell"]
        for nic in nics:
            words += ["-device", f"pcie-root-port,id=rp{nic.number},chassis={nic.number},addr={nic.number + 8:#x}",
                      "-netdev", nic.netdev(), "-device", json.dumps(nic.device())]
        prctl = ctypes.CDLL(None).prctl
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True,
            pass_fds=[shell.fileno(), monitor.fileno(), *(n.theirs.fileno() for n in nics)],
            preexec_fn=lambda: prctl(1, signal.SIGKILL))  # PR_SET_PDEATHSIG
        for s in (shell, monitor, *(n.theirs for n in nics)):
            s.close()
        self.replies = self.monitor.makefile("r")
        self.events = []

    def __enter__(self):
        try:
            json.loads(self.replies.readline())
            self.qmp("qmp_capabilities")
            self.sh("true", self.boot)
        except Exception:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.replies.close()
        for s in (self.shell, self.monitor, *(n.end for n in self.nics)):
            s.close()
        self.log.close()

    def console(self):
        self.log.seek(0)
        return self.log.read()[-4000:].decode(errors="replace")

    def qmp(self, command, **arguments):
        self.monitor.settimeout(10)
        self.monitor.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while line := self.replies.readline():
            answer = json.loads(line)
            if "event" in answer:
                self.events.append(answer)
            elif "error" in answer:
                raise Failed(f"{command}: {answer['error']['desc']}")
            else:
                return answer["return"]
        raise Failed(f"QEMU ended: {self.console()}")

    def happened(self, event, device):
        """Has the monitor told of it?"""
        self.qmp("query-status")
        return any(e["event"] == event and e["data"].get("device") == device for e in self.events)

    def sh(self, command, seconds=20.0, check=True):
        """What the command printed."""
        self.asked += 1
        mark = f"@@{self.asked} "
        text = f"( {command}\n) </dev/null 2>&1; printf '\\n%s%d\\n' '{mark}' $?\n"
        end = time.monotonic() + seconds
        self.shell.settimeout(seconds)
        try:
            self.shell.sendall(text.encode())
            while not (found := re.search(rb"\n" + mark.encode() + rb"(\d+)\n", self.buffer)):
                self.shell.settimeout(max(0.01, end - time.monotonic()))
                if not (data := self.shell.recv(65536)):
                    raise Failed(f"the guest ended during `{command}`: {self.console()}")
                self.buffer += data
        except (TimeoutError, ConnectionError) as e:
            raise Failed(f"no answer to `{command}`: {e!r}\n{self.buffer.decode(errors='replace')}"
                         f"\n{self.console()}") from None
        out, self.buffer = self.buffer[:found.start()].decode(errors="replace"), self.buffer[found.end():]
        if check and found[1] != b"0":
            raise Failed(f"`{command}` gave {found[1].decode()}: {out}")
        return out

    def write(self, path, text):
        self.sh(f"cat >{path} <<'@@END'\n{text}\n@@END")
