# SPDX-License-Identifier: BSD-3-Clause
"""The guest: Debian's kernel, and an initramfs with this machine's own programs and libraries."""
import fcntl
import glob
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("FROND_BUILD", os.path.join(ROOT, "build", "release"))
CACHE = os.path.join(ROOT, "build", "guest")
PROGRAMS = ("switchd/switchd", "lib/cli/frond", "lib/fabric/fabricd")
# Opened by name at run time.
DRIVERS = ("bus_pci", "bus_vdev", "mempool_ring", "net_virtio", "net_e1000")
MODULES = ("virtio_pci", "virtio_console", "vfio_pci", "vfio_iommu_type1", "uio_pci_generic")


def run(*words, **options):
    done = subprocess.run(words, stdin=options.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def kernel_package():
    """The package that linux-image-amd64 stands for today; apt's lists are fetched when there are none."""
    for update in (False, True):
        if update:
            run("apt-get", "-qq", "update")
        text = run("apt-cache", "depends", "linux-image-amd64") if run("apt-cache", "pkgnames", "linux-image-amd64") \
            else ""
        if found := re.search(r"Depends: (linux-image-\d\S+)", text):
            return found[1]
    raise RuntimeError("apt knows no linux-image-amd64: the guest needs its kernel")


def kernel():
    """A folder with the kernel as an ELF file (QEMU boots it by PVH) and its modules; made once."""
    for found in sorted(glob.glob(os.path.join(CACHE, "kernel-*"))):
        return found
    package = kernel_package()
    with tempfile.TemporaryDirectory(dir=CACHE) as work:
        run("apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package, cwd=work)
        deb, = glob.glob(os.path.join(work, "*.deb"))
        new = os.path.join(work, "new")
        os.makedirs(new)
        run("dpkg-deb", "-x", deb, new)
        image, = glob.glob(os.path.join(new, "boot", "vmlinuz-*"))
        with open(image, "rb") as f:
            packed = f.read()
        elf = lzma.LZMADecompressor().decompress(packed[packed.index(b"\xfd7zXZ\0"):])
        if elf[:4] != b"\x7fELF":
            raise RuntimeError(f"{package}: its kernel is packed otherwise than by xz")
        with open(os.path.join(new, "vmlinux"), "wb") as f:
            f.write(elf)
        version = package.removeprefix("linux-image-")
        run("depmod", "-b", new, version)
        for part in ("boot", "usr"):
            shutil.rmtree(os.path.join(new, part), ignore_errors=True)
        done = os.path.join(CACHE, f"kernel-{version}")
        os.rename(new, done)
    return done


def modules(folder):
    """Paths below the folder: the modules wanted, what they need, and the lists that modprobe reads."""
    base, = glob.glob(os.path.join(folder, "lib", "modules", "*"))
    with open(os.path.join(base, "modules.dep")) as f:
        needs = dict(line.rstrip("\n").split(":", 1) for line in f)
    by_name = {os.path.basename(p).split(".")[0].replace("-", "_"): p for p in needs}
    wanted = {"modules.dep", "modules.alias", "modules.order", "modules.builtin", "modules.builtin.modinfo"}
    for name in MODULES:
        if name not in by_name:
            raise RuntimeError(f"the kernel has no module {name}")
        wanted |= {by_name[name], *needs[by_name[name]].split()}
    return [os.path.relpath(os.path.join(base, w), folder) for w in sorted(wanted)]


def libraries(program):
    """What the loader maps for it, the loader itself too."""
    out = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    if missing := re.findall(r"(\S+) => not found", out):
        raise RuntimeError(f"{program} misses {', '.join(missing)}")
    return set(re.findall(r"(/\S+) \(0x", out))


def dlopened():
    folder, = glob.glob("/usr/lib/x86_64-linux-gnu/dpdk/pmds-*")
    version = folder.rsplit("-", 1)[1]
    found = [f"{folder}/librte_{d}.so.{version}" for d in DRIVERS]
    if not all(map(os.path.exists, found)):
        raise RuntimeError(f"not all of {', '.join(DRIVERS)} are in {folder}")
    return found


def fill(root, folder):
    for name in ("dev", "etc", "proc", "run", "sys", "tmp", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64"):
        os.makedirs(os.path.join(root, name))
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink(f"usr/{name}", os.path.join(root, name))

    def put(source, target):
        """A link stays one: what is reached by two names must not be loaded twice."""
        place = os.path.join(root, target.lstrip("/"))
        if os.path.lexists(place):
            return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if not os.path.islink(source):
            shutil.copy(source, place)
            return
        to = os.path.join(os.path.realpath(os.path.dirname(source)), os.readlink(source))
        os.symlink(to, place)
        put(os.path.normpath(to), os.path.normpath(to))

    for path in modules(folder):
        put(os.path.join(folder, path), path)
    put(os.path.realpath(shutil.which("busybox")), "bin/busybox")
    put(os.path.join(HERE, "init"), "init")
    os.chmod(os.path.join(root, "init"), 0o755)
    own = [os.path.join(BUILD, p) for p in PROGRAMS]
    for program in own:
        put(program, f"bin/{os.path.basename(program)}")
    plugins = dlopened()
    for plugin in plugins:
        put(plugin, plugin)
    for library in set().union(*(libraries(p) for p in [*own, *plugins])):
        put(library, library)


def initramfs(folder):
    """The archive; made again when a program, a library's package or a file here has changed."""
    sources = [os.path.join(BUILD, p) for p in PROGRAMS] + [os.path.join(HERE, n) for n in ("init", "image.py")]
    sources += sorted(set(dlopened()).union(*(libraries(os.path.join(BUILD, p)) for p in PROGRAMS)))
    marks = "".join(f"{s} {os.stat(s).st_size} {os.stat(s).st_mtime_ns}\n" for s in sources) + folder
    name = os.path.join(CACHE, f"initramfs-{hashlib.sha256(marks.encode()).hexdigest()[:16]}")
    if not os.path.exists(name):
        for old in glob.glob(os.path.join(CACHE, "initramfs-*")):
            os.unlink(old)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            root, new = os.path.join(work, "root"), os.path.join(work, "new")
            fill(root, folder)
            run("sh", "-c", f"find . | cpio --quiet -o -H newc -R 0:0 >'{new}'", cwd=root)
            os.rename(new, name)
    return name


def make():
    """(kernel, initramfs)."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = kernel()
        return os.path.join(folder, "vmlinux"), initramfs(folder)


if __name__ == "__main__":
    print(*make(), sep="\n")
