"""The guest's kernel and its root file system, made of Debian's packages and cached in the build folder."""
import hashlib, pathlib, re, stat, subprocess, tempfile

LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
CHRT = pathlib.Path("/usr/bin/chrt")
DRIVERS = ["bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_virtio", "net_vmxnet3", "net_null"]
# In the order in which they need each other.
MODULES = ["uio", "uio_pci_generic", "irqbypass", "vfio", "vfio_virqfd", "vfio_iommu_type1", "vfio-pci-core", "vfio-pci"]
APPLETS = ["sh", "cat", "chmod", "cp", "echo", "grep", "insmod", "kill", "mkdir", "mount", "poweroff", "sed",
           "sleep", "stty", "usleep"]


def run(*command, **options):
    """The output of a command; RuntimeError with all that it said when it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, **options)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{said}")
    return done.stdout


class Archive:
    """A cpio archive of the form "newc", which is what the kernel unpacks (Documentation/driver-api/early-userspace)."""

    def __init__(self):
        self.data, self.inode, self.folders = bytearray(), 0, set()

    def _entry(self, name, mode, content=b""):
        self.inode += 1
        fields = [self.inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        self.data += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        self.data += bytes(-len(self.data) % 4) + content
        self.data += bytes(-len(self.data) % 4)

    def folder(self, name):
        parent = str(pathlib.PurePosixPath(name).parent)
        if name in self.folders or name in (".", "/"):
            return
        self.folder(parent)
        self.folders.add(name)
        self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, content, mode=0o755):
        self.folder(str(pathlib.PurePosixPath(name).parent))
        self._entry(name, stat.S_IFREG | mode, content)

    def link(self, name, target):
        self.folder(str(pathlib.PurePosixPath(name).parent))
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def finish(self):
        self._entry("TRAILER!!!", 0)
        return bytes(self.data)


def kernel(cache):
    """The folder with vmlinuz and *.ko of Debian's cloud kernel, which is fetched and unpacked but not installed."""
    # The package's name has the ABI number, which changes with every security update.
    depends = run("apt-cache", "depends", "linux-image-cloud-amd64").decode()
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    if package is None:
        raise RuntimeError("apt knows no linux-image-cloud-amd64; run apt-get update")
    folder = cache / package[1]
    if (folder / "vmlinuz").exists():
        return folder
    with tempfile.TemporaryDirectory(dir=cache) as place:
        place = pathlib.Path(place)
        run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package[1], cwd=place)
        archive = run("dpkg-deb", "--fsys-tarfile", next(place.glob("*.deb")))
        run_tar = subprocess.run(["tar", "-x", "-C", place, "--wildcards", "./boot/vmlinuz*", "*/drivers/uio/uio*.ko",
                                  "*/drivers/vfio/*", "*/irqbypass.ko"], input=archive, capture_output=True)
        if run_tar.returncode != 0:
            raise RuntimeError("unpacking the kernel: " + run_tar.stderr.decode(errors="replace"))
        folder.mkdir(exist_ok=True)
        for module in place.rglob("*.ko"):
            module.rename(folder / module.name)
        next(place.glob("boot/vmlinuz*")).rename(folder / "vmlinuz")  # last: it says that the folder is whole
    return folder


def libraries_of(files):
    """Every library that the loader maps for these files, by its path."""
    found = set()
    for line in run("ldd", *files).decode().splitlines():
        if match := re.search(r"(/\S+) \(0x", line):
            found.add(pathlib.Path(match[1]))
    return found


def root_archive(volleyd, kernel_folder):
    archive = Archive()
    for name in ["dev", "proc", "sys", "run", "tmp", "job", "usr/lib64"]:
        archive.folder(name)
    archive.link("lib", "usr/lib")
    archive.link("lib64", "usr/lib64")
    archive.file("bin/busybox", pathlib.Path("/bin/busybox").read_bytes())
    for applet in APPLETS:
        archive.link(f"bin/{applet}", "busybox")
    archive.file("init", (pathlib.Path(__file__).parent / "init.sh").read_bytes())
    for module in MODULES:
        archive.file(f"modules/{module}.ko", (kernel_folder / f"{module}.ko").read_bytes())
    plugins = [next(LIBRARIES.glob(f"dpdk/pmds-*/librte_{name}.so.*.*")) for name in DRIVERS]
    for plugin in plugins:
        archive.file(str(plugin).lstrip("/"), plugin.read_bytes())
        # A second copy under the library folder would be loaded beside the plugin, and the EAL panics at the second.
        soname = re.sub(r"(\.so\.\d+).*", r"\1", plugin.name)
        archive.link(str(LIBRARIES / soname).lstrip("/"), str(plugin))
    archive.file("bin/chrt", CHRT.read_bytes())
    for library in libraries_of([volleyd, CHRT, *plugins]):
        if library.name.startswith("ld-linux"):
            archive.file(f"usr/lib64/{library.name}", library.read_bytes())
        elif "pmds-" not in str(library.resolve()):
            archive.file(str(LIBRARIES / library.name).lstrip("/"), library.read_bytes())
    with tempfile.NamedTemporaryFile() as stripped:
        run("strip", "-o", stripped.name, volleyd)
        archive.file("usr/sbin/volleyd", pathlib.Path(stripped.name).read_bytes())
    return archive.finish()


def root(cache, volleyd, kernel_folder):
    """The cached archive of the root file system; made anew when volleyd, a library or this folder has changed."""
    plugins = sorted(LIBRARIES.glob("dpdk/pmds-*/*.so.*.*"))
    parts = [volleyd, pathlib.Path(__file__), pathlib.Path(__file__).parent / "init.sh", kernel_folder / "vmlinuz",
             pathlib.Path("/bin/busybox"), *sorted(libraries_of([volleyd])), *plugins]
    stamps = [(str(part), part.stat().st_mtime_ns, part.stat().st_size) for part in parts]
    key = hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]
    path = cache / f"root-{key}.cpio"
    if not path.exists():
        for old in cache.glob("root-*.cpio"):
            old.unlink()
        unfinished = path.with_suffix(".new")
        unfinished.write_bytes(root_archive(volleyd, kernel_folder))
        unfinished.rename(path)
    return path


def job(script, files):
    """What differs from guest to guest: the shell script and its files, unpacked over the root."""
    archive = Archive()
    archive.file("job/run.sh", script.encode())
    for name, content in files.items():
        archive.file(f"job/{name}", content if isinstance(content, bytes) else content.encode(), 0o644)
    return archive.finish()
