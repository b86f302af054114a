"""One QEMU guest: booted, watched, and what it left: results, frames outside, writes of the card's tail registers."""
import contextlib, dataclasses, json, os, pathlib, re, shlex, socket, subprocess, time

import image

QEMU = os.environ.get("VOLLEY_QEMU", "qemu-system-x86_64")
# KVM is never asked for: where it is nested and emulated a guest starts and then hangs.
COMMON = "-machine {machine} -cpu max -smp 1 -m 512 -nodefaults -no-user-config -display none -vga none -no-reboot"
# no_timer_check: on a busy host the kernel would find too few ticks in its first 10 ms and panic.
KERNEL_LINE = "console=ttyS0 quiet loglevel=3 panic=-1 tsc=reliable no_timer_check mitigations=off nmi_watchdog=0"
VIRTUAL_TIME = "-accel tcg,thread=single -icount shift=0,sleep=off -rtc base=2026-01-01T00:00:00,clock=vm"
UIO = "DRIVER=uio_pci_generic\nMODULES='uio uio_pci_generic'\n"
VFIO = "DRIVER=vfio-pci\nMODULES='irqbypass vfio vfio_virqfd vfio_iommu_type1 vfio-pci-core vfio-pci'\n"
# A guest that goes on is given up by the CPU time that it took, which a busy host does not lengthen; one that stands, by the clock.
CPU_PATIENCE, PATIENCE = 300, 1000  # seconds


@dataclasses.dataclass(frozen=True)
class Doorbell:
    """Where QEMU's trace tells writes of a card's tail registers."""
    event: str               # of QEMU's trace
    pattern: re.Pattern      # a line of it: register and value
    tails: dict              # register -> queue
    heads: dict              # register that a queue's set-up writes right after its tail -> queue
    mask: int = 0xffffffff   # what of the address is the register

    def writes(self, lines):
        """(is a tail's, queue, value) of each line about these registers."""
        for line in lines:
            if match := self.pattern.search(line):
                register = int(match["register"], 16) & self.mask
                if register in self.tails:
                    yield True, self.tails[register], int(match["value"], 16)
                elif register in self.heads:
                    yield False, self.heads[register], int(match["value"], 16)


@dataclasses.dataclass
class Card:
    """An emulated network card and how it is plugged in."""
    device: str                    # -device, without netdev
    doorbell: Doorbell | None
    extra: str = ""                # more of QEMU's command line
    netdev: str = "user,restrict=on"
    machine: str = "q35"
    driver: str = UIO

    @property
    def model(self):
        return self.device.split(",")[0]


@dataclasses.dataclass
class Run:
    """What one volleyd in the guest left."""
    status: int | None = None
    log: list = dataclasses.field(default_factory=list)
    lines: list = dataclasses.field(default_factory=list)
    gaveup: list = dataclasses.field(default_factory=list)

    @property
    def report(self):
        return self.lines[-1] if self.lines and self.lines[-1].get("type") == "report" else None


@dataclasses.dataclass
class TailWrite:
    queue: int
    value: int


@dataclasses.dataclass
class Left:
    """All that a guest left."""
    runs: dict
    pcap: pathlib.Path
    trace: pathlib.Path
    console: str
    complete: bool
    seconds: float
    card: Card


class Control:
    """QEMU's machine protocol: here only to plug and unplug the cable."""

    def __init__(self, path, process):
        deadline = time.monotonic() + PATIENCE
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            with contextlib.suppress(OSError):
                self.socket.connect(str(path))
                break
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("QEMU did not start")
            time.sleep(0.02)
        self.stream = self.socket.makefile("rw")
        self.stream.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        self.stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.stream.flush()
        while "event" in (answer := json.loads(self.stream.readline())):
            pass
        if "error" in answer:
            raise RuntimeError(f"QEMU: {command}: {answer['error']['desc']}")

    def cable(self, plugged):
        self.ask("set_link", name="n0", up=plugged)


def has_device(model):
    """True when this QEMU has the device."""
    return f"{model} options:" in subprocess.run([QEMU, "-device", f"{model},help"], capture_output=True, text=True).stdout


def version():
    return re.search(r"version (\S+)", image.run(QEMU, "--version").decode())[1]


def parse_results(text):
    runs = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        kind, _, value = rest.partition(" ")
        if kind not in ("status", "log", "line", "gaveup"):
            continue
        run = runs.setdefault(name, Run())
        if kind == "status":
            run.status = int(value)
        elif kind == "log":
            run.log.append(value)
        elif kind == "gaveup":
            run.gaveup.append(value)
        else:
            with contextlib.suppress(json.JSONDecodeError):
                run.lines.append(json.loads(value))
    return runs


def command_line(card, files, folder, virtual_time):
    parts = COMMON.format(machine=card.machine).split()
    parts += (VIRTUAL_TIME if virtual_time else "-accel tcg").split()
    append = KERNEL_LINE + (" intel_iommu=on" if "intel-iommu" in card.extra else "")
    parts += ["-kernel", str(files["kernel"]), "-initrd", str(folder / "initrd"), "-append", append]
    parts += ["-serial", f"file:{folder}/console", "-serial", f"file:{folder}/results"]
    parts += ["-qmp", f"unix:{folder}/control,server=on,wait=off"]
    parts += shlex.split(card.extra)
    parts += ["-netdev", card.netdev.format(folder=folder).replace(",", ",id=n0,", 1)]
    if "dgram" not in card.netdev:
        parts += ["-object", f"filter-dump,id=f0,netdev=n0,file={folder}/frames.pcap"]
    parts += ["-device", f"{card.device},netdev=n0"]
    if card.doorbell and not virtual_time:
        parts += ["--trace", card.doorbell.event, "-D", f"{folder}/trace"]
    return [QEMU, *parts]


def boot(card, script, files, folder, parts, virtual_time=False, cable=True, wishes=None):
    """Boots a guest that runs `script` with `files` in /job, until it powers off. parts: kernel folder and root archive.
    wishes: what to do at a line "host WORD", by word; gets the Control."""
    kernel_folder, root = parts
    (folder / "initrd").write_bytes(image.job(script, {**files, "driver": card.driver}) + root.read_bytes())
    results = folder / "results"
    results.touch()
    began = time.monotonic()
    with open(folder / "qemu.log", "wb") as log:
        process = subprocess.Popen(command_line(card, {"kernel": kernel_folder / "vmlinuz"}, folder, virtual_time),
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            control = Control(folder / "control", process)
            if not cable:
                control.cable(False)
            watch(process, results, control, wishes or {}, began + PATIENCE)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    (folder / "initrd").unlink()
    text = results.read_text(errors="replace")
    console = (folder / "console").read_text(errors="replace") + (folder / "qemu.log").read_text(errors="replace")
    return Left(parse_results(text), folder / "frames.pcap", folder / "trace", console, "\nguest end" in text,
                time.monotonic() - began, card)


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime (proc(5))


def watch(process, results, control, wishes, deadline):
    seen = 0
    while process.poll() is None and time.monotonic() < deadline and cpu_seconds(process) < CPU_PATIENCE:
        text = results.read_text(errors="replace")
        whole = text[seen:text.rfind("\n") + 1]
        for word in re.findall(r"^host (\S+)$", whole, re.MULTILINE):
            wishes[word](control)
        seen += len(whole)
        time.sleep(0.1)


def tail_writes(left):
    """Writes of tail registers in order, one list a volleyd, for each sets its queues up.

    e1000's drivers set a queue up by writing 0 to its tail, then 0 to its head (em_rxtx.c: eth_em_tx_init): that write
    of a tail announces no packet and is left out."""
    runs = [[]]
    for is_tail, queue, value in left.card.doorbell.writes(left.trace.read_text(errors="replace").splitlines()):
        if is_tail:
            runs[-1].append(TailWrite(queue, value))
            continue
        if runs[-1] and runs[-1][-1] == TailWrite(queue, 0):
            runs[-1].pop()
        if queue == 0:
            runs.append([])
    return runs[1:] if left.card.doorbell.heads else runs
