"""What was seen outside the guest against what was asked for. Frames are read by tshark, with its checksum checks on."""
import collections, dataclasses, itertools

import image, packets

FIELDS = ["frame.number", "ip.checksum.status", "udp.checksum.status", "udp.dstport", "ip.src"]
GOOD = "1"  # tshark's word for a checksum that it has computed and found right


@dataclasses.dataclass
class Frame:
    microseconds: int
    data: bytes
    good: bool      # its checksums, says tshark
    stream: int     # its number
    index: int      # of the packet in its stream: low 24 bits of the source address

    @property
    def length(self):
        return len(self.data)


class Problems:
    """What a case found wrong; empty: it passed."""

    def __init__(self):
        self.texts = []

    def say(self, text):
        self.texts.append(text)

    def equal(self, what, got, wanted):
        if got != wanted:
            self.say(f"{what}: {got}, not {wanted}")

    def within(self, what, got, least, most):
        if got is None or not least <= got <= most:
            self.say(f"{what}: {got}, not within {least} to {most}")

    def true(self, what, holds):
        if not holds:
            self.say(what)


def read_frames(pcap):
    """Frames of our streams by the number of the stream, which is its UDP destination port; in the order of sending."""
    command = ["tshark", "-n", "-r", str(pcap), "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
               "-Y", "ip && udp && ip.dst == 10.1.0.1", "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    streams = collections.defaultdict(list)
    records = packets.records(pcap.read_bytes())
    for line in image.run(*command).decode().splitlines():
        number, ip_sum, udp_sum, port, source = line.split("\t")
        octets = [int(octet) for octet in source.split(".")]
        streams[int(port)].append(Frame(*records[int(number) - 1], (ip_sum, udp_sum) == (GOOD, GOOD), int(port),
                                        octets[1] << 16 | octets[2] << 8 | octets[3]))
    return streams


def sound(problems, what, frames, count, length=None, first=0, ordered=True):
    """Each of `count` packets once, in order, byte for byte, with right checksums and of the length asked for (without FCS)."""
    problems.equal(f"{what}: frames outside", len(frames), count)
    indices = [frame.index for frame in frames]
    if (indices if ordered else sorted(indices)) != list(range(first, first + len(frames))):
        wrong = next(i for i, index in enumerate(indices if ordered else sorted(indices)) if index != first + i)
        problems.say(f"{what}: frame {wrong} is packet {indices[wrong]}")
    whole(problems, what, frames)
    if length is not None:
        problems.equal(f"{what}: lengths", {frame.length for frame in frames}, {length})


def whole(problems, what, frames):
    """Each frame as it must be, byte for byte, and with checksums that tshark finds right."""
    problems.equal(f"{what}: frames with a wrong checksum", sum(not frame.good for frame in frames), 0)
    other = sum(frame.data != packets.packet(frame.stream, frame.index, frame.length) for frame in frames)
    problems.equal(f"{what}: frames with a wrong byte", other, 0)


def finished(problems, what, run, status=0):
    """The volleyd came, ended with that status and, where it ran, made a settled report."""
    if run is None:
        problems.say(f"{what}: no word from it")
        return False
    for pattern in run.gaveup:
        problems.say(f"{what}: waited in vain: {pattern}")
    problems.equal(f"{what}: exit status", run.status, status)
    if run.status != status:
        problems.say("\n".join(["its log:", *run.log[-12:]]))
    if status not in (0, 1, 2):
        return True
    if run.report is None:
        problems.say(f"{what}: no report")
        return False
    problems.equal(f"{what}: settled", run.report["settled"], True)
    return True


def reported(problems, what, report, packets, bytes_on_wire):
    """Port, queues, workers and streams say the same, and that is what was seen outside."""
    for kind in ("ports", "workers", "streams", "queues"):
        problems.equal(f"{what}: packets by {kind}", sum(one["tx"]["packets"] for one in report[kind] if one["tx"]), packets)
    problems.equal(f"{what}: bytes of the port", sum(port["tx"]["bytes"] for port in report["ports"]), bytes_on_wire)
    problems.equal(f"{what}: l2_bytes of the streams", sum(stream["tx"]["l2_bytes"] for stream in report["streams"]),
                   bytes_on_wire + 4 * packets)


def steps(writes, ring):
    """How many packets each tail write announced: Counter of packets -> writes, over all queues."""
    sizes, tails = collections.Counter(), collections.defaultdict(int)
    for write in writes:
        sizes[(write.value - tails[write.queue]) % ring] += 1
        tails[write.queue] = write.value
    return sizes


def submissions(frames, burst):
    """When each burst was handed to the card, by its first frame."""
    return [frame.microseconds for frame in frames[::burst]]


def paced(problems, what, times, gap, mean_ppm=100):
    """Gaps between times, all in microseconds: the median to 1, the 1st and the 99th percentile to 2, the mean rate to
    mean_ppm, no burst at the start to catch up."""
    paced_alike(problems, what, [times], gap, mean_ppm)


def paced_alike(problems, what, series, gap, mean_ppm=100):
    """The same of several streams of one rate: order statistics of all their gaps, mean and start of each."""
    gaps = [[after - before for before, after in zip(times, times[1:])] for times in series]
    if min(map(len, gaps)) < 100:
        problems.say(f"{what}: only {min(map(len, gaps))} gaps")
        return
    ranked = sorted(one for own in gaps for one in own)
    problems.within(f"{what}: median gap", ranked[len(ranked) // 2], gap - 1, gap + 1)
    problems.within(f"{what}: 1st percentile of the gaps", ranked[len(ranked) // 100], gap - 2, gap + 2)
    problems.within(f"{what}: 99th percentile of the gaps", ranked[-1 - len(ranked) // 100], gap - 2, gap + 2)
    on_time(problems, what, [(times, [gap * place for place in range(len(times))]) for times in series])
    for number, (times, own) in enumerate(zip(series, gaps)):
        mean = (times[-1] - times[0]) / len(own)
        problems.within(f"{what}, {number}: mean gap {mean:.4f}, ppm off", abs(mean / gap - 1) * 1e6, 0, mean_ppm)
        problems.true(f"{what}, {number}: a burst at the start: {own[:20]}", min(own[:20]) >= gap - 6)


def on_time(problems, what, series):
    """Each (times, dues) in microseconds: at the dues, all by the same delay, 98 of 100 to 2. One gap that is wrong, and
    moves all behind it, is seen."""
    off = []
    for times, dues in series:
        late = sorted(time - due for time, due in zip(times, dues, strict=True))
        off += [abs(one - late[len(late) // 2]) for one in late]
    problems.within(f"{what}: 98th percentile of the distance from the due time", sorted(off)[len(off) * 98 // 100], 0, 2)


def kept(problems, what, times, gaps):
    """Gaps between times against those of a capture, all in microseconds: the median distance to 1, the 1st and the 99th
    percentile of what they are longer by to 2, the first one kept, no burst at the start, the dues held to the end."""
    problems.equal(f"{what}: gaps", len(times) - 1, len(gaps))
    off = [after - before - gap for before, after, gap in zip(times, times[1:], gaps)]
    if len(off) < len(gaps):
        return
    ranked = sorted(off)
    problems.within(f"{what}: median distance of a gap from the recorded one", sorted(map(abs, off))[len(off) // 2], 0, 1)
    problems.within(f"{what}: 1st percentile of gaps less the recorded ones", ranked[len(off) // 100], -2, 2)
    problems.within(f"{what}: 99th percentile of gaps less the recorded ones", ranked[-1 - len(off) // 100], -2, 2)
    problems.within(f"{what}: the first gap less the recorded one", off[0], -6, 2)
    problems.true(f"{what}: a burst at the start: gaps less the recorded ones: {off[:20]}", min(off[:20]) >= -6)
    on_time(problems, what, [(times, list(itertools.accumulate(gaps, initial=0)))])


def rendered(problems, what, evidence, name, times):
    """The frames left at the times of volleyctl render, all by the same delay."""
    folder = evidence.left.pcap.parent
    (folder / f"{name}.json").write_text(evidence.files[f"{name}.json"])
    image.run(str(evidence.programs / "volleyctl"), "render", str(folder / f"{name}.json"), "-n", str(len(times)), "-o", str(folder / "rendered.pcap"))
    seconds = image.run("tshark", "-n", "-r", str(folder / "rendered.pcap"), "-T", "fields", "-e", "frame.time_relative").decode().split()
    problems.equal(f"{what}: frames rendered", len(seconds), len(times))
    if len(seconds) == len(times):
        on_time(problems, f"{what} as rendered", [(times, [1e6 * float(second) for second in seconds])])
