"""Frames and captures, made and read the slow way: what a stream of scene.py must look like outside."""
import struct

PCAP_MICROSECONDS, PCAP_NANOSECONDS, ETHERNET = 0xa1b2c3d4, 0xa1b23c4d, 1


def checksum(data):
    """RFC 1071: an odd last byte is padded with zero."""
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packet(number, index, length):
    """Packet `index` of stream `number`; length: bytes without FCS."""
    source, destination = (10 << 24 | index).to_bytes(4), bytes([10, 1, 0, 1])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length - 14, 0, 0, 64, 17, 0) + source + destination
    ip = ip[:10] + checksum(ip).to_bytes(2) + ip[12:]
    udp = struct.pack(">HHHH", 4096, number, length - 34, 0)
    payload = b"\xa5" * (length - 42)
    total = checksum(source + destination + struct.pack(">HH", 17, length - 34) + udp + payload)
    return (bytes.fromhex("020000000002" "020000000001" "0800") + ip + udp[:6] + (total or 0xffff).to_bytes(2) + payload)


def capture(frames, gaps):
    """A capture in nanoseconds, the least byte first; gaps: microseconds between the frames."""
    out = bytearray(struct.pack("<IHHiIII", PCAP_NANOSECONDS, 2, 4, 0, 0, 65535, ETHERNET))
    time = 1_700_000_000_999_000_000  # the second changes a millisecond later
    for frame, gap in zip(frames, [0, *gaps], strict=True):
        time += 1000 * gap
        out += struct.pack("<IIII", *divmod(time, 1_000_000_000), len(frame), len(frame)) + frame
    return bytes(out)


def records(data):
    """(microseconds, frame) of each record of a capture in microseconds, the least byte first."""
    magic, *_ = struct.unpack_from("<I", data)
    if magic != PCAP_MICROSECONDS:
        raise ValueError(f"a capture of another kind: {magic:#x}")
    out, place = [], 24
    while place < len(data):
        seconds, microseconds, length, _ = struct.unpack_from("<IIII", data, place)
        out.append((seconds * 1_000_000 + microseconds, data[place + 16:place + 16 + length]))
        place += 16 + length
    return out
