"""Pacing in virtual time: the guest's clock and the pcap's stamps count instructions (-icount), 1 ns each, so gaps tell what
volleyd does and not how busy the host is. A frame's stamp is the time of its tail write."""
import itertools, random

import cards, machine, packets
from judge import finished, kept, paced, paced_alike, rendered, sound, submissions, whole
from scene import Scene, configuration, replay, stream

SINGLE, BULK, CHANGED, POISSON, RECORDED, LOOPED, TEN = 50, 51, 52, 53, 54, 55, 60
LOOPS, SPEED = 3, 2


def single_case(evidence, problems):
    if finished(problems, "bursts of 1", evidence.left.runs.get("single")):
        frames = evidence.frames[SINGLE]
        sound(problems, "bursts of 1", frames, 5000, 60)
        paced(problems, "bursts of 1 every 10 us", submissions(frames, 1), 10)


def bulk_case(evidence, problems):
    if finished(problems, "bursts of 32", evidence.left.runs.get("bulk")):
        frames = evidence.frames[BULK]
        sound(problems, "bursts of 32", frames, 32 * 600, 60)
        paced(problems, "bursts of 32 every 1 ms", submissions(frames, 32), 1000)


def ten_case(evidence, problems):
    if not finished(problems, "ten streams", evidence.left.runs.get("ten")):
        return
    for number in range(TEN, TEN + 10):
        sound(problems, f"stream {number}", evidence.frames[number], 1000, 60)
    paced_alike(problems, "ten streams", [submissions(evidence.frames[number], 1) for number in range(TEN, TEN + 10)], 100)
    together = sorted(time for number in range(TEN, TEN + 10) for time in submissions(evidence.frames[number], 1))
    paced(problems, "ten streams together, staggered", together, 10)


def poisson_case(evidence, problems):
    """Gaps as volleyctl render has them, and distributed as those of a Poisson process are."""
    if not finished(problems, "Poisson", evidence.left.runs.get("poisson")):
        return
    frames = evidence.frames[POISSON]
    sound(problems, "Poisson", frames, 3000, 60)
    rendered(problems, "Poisson", evidence, "poisson", submissions(frames, 1))
    times = submissions(frames, 1)
    gaps = [after - before for before, after in zip(times, times[1:])]
    mean = sum(gaps) / len(gaps)
    problems.within("Poisson: mean gap", mean, 93, 107)  # 4 sigma of 3000 exponential gaps
    problems.within("Poisson: share of gaps above the mean", sum(gap > mean for gap in gaps) / len(gaps), 0.33, 0.41)
    spread = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5 / mean
    problems.within("Poisson: standard deviation by mean", spread, 0.9, 1.1)


def recorded_gaps(count):
    """Microseconds between frames, even ones: irregular, now and then none, a pause every hundred, a long one first."""
    draw = random.Random(9)
    gaps = [draw.choice([0, 12, *(10 + 2 * int(draw.expovariate(1 / 45)) for _ in range(14))]) for _ in range(count)]
    gaps[99::100] = [5000] * len(gaps[99::100])
    return [3000, *gaps[1:]]


def recorded_capture(number, count):
    """(frames of many lengths, gaps between them)"""
    return [packets.packet(number, index, 60 + index * 37 % 1400) for index in range(count)], recorded_gaps(count - 1)


CAPTURES = {"recorded": recorded_capture(RECORDED, 3000), "looped": recorded_capture(LOOPED, 500)}


def replayed(problems, what, evidence, name, number, loops=1, speed=1):
    """The frames of a capture, `loops` times, at its times; behind the last one of a loop comes the mean gap."""
    run = evidence.left.runs.get(name)
    if not finished(problems, what, run):
        return
    frames, gaps = CAPTURES[name]
    got = evidence.frames[number]
    whole(problems, what, got)
    problems.true(f"{what}: not the frames of the capture in its order", [frame.data for frame in got] == frames * loops)
    problems.equal(f"{what}: slips", run.report["streams"][0]["slips"], 0)
    wanted = [gap / speed for gap in gaps]
    again = [*wanted, sum(wanted) / len(wanted)]
    kept(problems, what, submissions(got, 1), list(itertools.chain(again * (loops - 1), wanted)))


def recorded_case(evidence, problems):
    replayed(problems, "capture", evidence, "recorded", RECORDED)


def looped_case(evidence, problems):
    replayed(problems, "capture, looped", evidence, "looped", LOOPED, LOOPS, SPEED)


def change_of_rate(times, before, after):
    """Index of the first submission after which the mean of 400 gaps is the new rate's."""
    for i in range(len(times) - 400):
        if abs((times[i + 400] - times[i]) / 400 - after) < abs(after - before) / 100:
            return i
    return None


def changed_case(evidence, problems):
    """The shell and the reload itself run on the guest's only CPU, so 20 ms before and after it are not judged."""
    run = evidence.left.runs.get("changed")
    if not finished(problems, "change of rate", run):
        return
    frames = evidence.frames[CHANGED]
    sound(problems, "change of rate", frames, run.report["ports"][0]["tx"]["packets"], 60)
    times = submissions(frames, 1)
    place = change_of_rate(times, 100, 50)
    if place is None or place < 1200 or place > len(times) - 2400:
        problems.say(f"change of rate: from packet {place} of {len(times)}")
        return
    paced(problems, "before the change of rate", times[place - 1200:place - 200], 100)
    paced(problems, "after the change of rate", times[place + 400:place + 2400], 50)


# The worker shares the guest's only CPU: as real-time threads volleyd's take turns where they sleep or yield, and the
# shell waits.
REAL_TIME = """
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
chrt -f -p 2 $$
PRIORITY='chrt -f 1'
"""
CHANGE = """
begin changed
await changed.log 'starting -> running'
usleep 400000
cp /job/faster.json /tmp/changed.json
kill -HUP $pid
usleep 400000
kill -TERM $pid
finish
"""


def paced_configuration(streams, **more):
    """Without a telemetry line meanwhile: the stats thread has a CPU of its own elsewhere."""
    return configuration(streams, interval="20s", **more)


def scenes():
    script = REAL_TIME + "run single\nrun bulk\nrun ten\nrun poisson\nrun recorded\nrun looped\n" + CHANGE
    configurations = {
        "single": paced_configuration([stream(SINGLE, 5000, 1, "100kpps")]),
        "bulk": paced_configuration([stream(BULK, 32 * 600, 32, "32kpps")]),
        "ten": paced_configuration([stream(number, 1000, 1, "10kpps") for number in range(TEN, TEN + 10)],
                                   tx={"flush_threshold": 32, "flush_timeout": "0s"}),
        "recorded": paced_configuration([replay(RECORDED, "recorded.pcap")]),
        "looped": paced_configuration([replay(LOOPED, "looped.pcap", speed=SPEED, loop=LOOPS)]),
        "poisson": paced_configuration([stream(POISSON, 3000, 1, "10kpps", departure="poisson")]),
        "changed": paced_configuration([stream(CHANGED, burst=1, rate="10kpps")]),
        "faster": paced_configuration([stream(CHANGED, burst=1, rate="20kpps")])}
    return [Scene("VirtualTime", machine.Card("e1000e", cards.E1000E), script, configurations,
                  {"single_packets_every_10_us": single_case,
                   "bursts_of_32_every_1_ms": bulk_case,
                   "ten_streams_of_one_rate_take_turns": ten_case,
                   "a_poisson_stream_leaves_at_the_times_that_are_rendered": poisson_case,
                   "a_capture_leaves_with_the_gaps_that_were_recorded": recorded_case,
                   "a_capture_twice_as_fast_keeps_its_gaps_over_three_loops": looped_case,
                   "a_rate_changes_by_reload_without_a_burst": changed_case},
                  {f"{name}.pcap": packets.capture(*capture) for name, capture in CAPTURES.items()}, short=True, virtual_time=True)]
