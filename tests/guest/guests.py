#!/usr/bin/env python3
"""volleyd in QEMU guests, on network cards that are not ours: what it promises, judged from outside.

Needs the packages of tools/packages.sh and apt's package lists for the kernel; no root. Cases and their judges are in
cards.py (exact counts, tail writes, life cycle), receiving.py and pacing.py (gaps in virtual time). Two guests at a time, at
low priority.
"""
import argparse, concurrent.futures, contextlib, fnmatch, os, pathlib, sys, time, traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cards, image, judge, machine, pacing, receiving, scene  # noqa: E402


GUESTS_AT_ONCE = 2  # each is one busy thread


def matches(name, pattern):
    """As GoogleTest's filter: positive patterns by colons, then a minus and negative ones."""
    positive, _, negative = pattern.partition("-")
    hit = lambda patterns: any(fnmatch.fnmatchcase(name, one) for one in patterns.split(":"))  # noqa: E731
    return hit(positive or "*") and not (negative and hit(negative))


def play(one, folder, parts, programs):
    """Boots the scene's guest and gathers the evidence. programs: folder of volleyd and volleyctl."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    with one.around(folder) if one.around else contextlib.nullcontext() as meanwhile:
        left = machine.boot(one.card, one.script, one.files(), folder, parts, one.virtual_time, one.cable, one.wishes)
    if not left.complete:
        said = "\n".join([*left.console.splitlines()[-30:], *(line for run in left.runs.values() for line in run.log[-5:])])
        raise RuntimeError(f"the guest did not come to its end in {left.seconds:.0f} s\n{said}")
    frames = judge.read_frames(left.pcap) if left.pcap.exists() else {}
    tails = machine.tail_writes(left) if left.trace.exists() and one.card.doorbell else []
    return scene.Evidence(left, frames, tails, meanwhile, programs, one.files())


def skip_reason(one):
    if machine.has_device(one.card.model):
        return None
    return (f"QEMU {machine.version()} has no {one.card.model} (82576), which came with version 8; "
            "VOLLEY_QEMU=PATH names another")


class Tally:
    """Tells each case in GoogleTest's form, which tools/count_tests.py adds up. The main thread's alone."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], 0

    def tell(self, name, problems, seconds):
        print(f"[ RUN      ] {name}")
        for text in problems:
            print(f"  {text}")
        verdict = "  FAILED  " if problems else "       OK "
        print(f"[{verdict}] {name} ({int(seconds * 1000)} ms)", flush=True)
        if problems:
            self.failed.append(name)
        else:
            self.passed += 1

    def skip(self, name, reason):
        print(f"[ RUN      ] {name}\nguests.py:1: Skipped\n{reason}\n[  SKIPPED ] {name} (0 ms)", flush=True)
        self.skipped += 1


def judge_scene(one, names, folder, parts, programs):
    """(name, problems, seconds) of each case; the boot is the first one's."""
    began = time.monotonic()
    try:
        evidence = play(one, folder, parts, programs)
    except Exception:
        return [(name, [traceback.format_exc()], time.monotonic() - began) for name in names]
    told = []
    for case, function in one.cases.items():
        name = f"{one.name}.{case}"
        if name not in names:
            continue
        problems = judge.Problems()
        try:
            function(evidence, problems)
        except Exception:
            problems.say(traceback.format_exc())
        told.append((name, problems.texts, time.monotonic() - began))
        began = time.monotonic()
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volleyd", required=True, type=pathlib.Path)
    parser.add_argument("--cache", required=True, type=pathlib.Path, help="folder for kernel, root and what guests leave")
    parser.add_argument("--short", action="store_true", help="one guest on an e1000e, one in virtual time")
    parser.add_argument("--filter", default=os.environ.get("GTEST_FILTER", "*"), help="SCENE.case, as --gtest_filter")
    options = parser.parse_args()
    os.nice(5)
    chosen = []
    for one in [*pacing.scenes(), *cards.scenes(), *receiving.scenes()]:  # the longest first
        names = [f"{one.name}.{case}" for case in one.cases if matches(f"{one.name}.{case}", options.filter)]
        if names and (one.short or not options.short):
            chosen.append((one, names))
    print(f"[==========] Running {sum(len(names) for _, names in chosen)} tests from {len(chosen)} guests", flush=True)
    tally = Tally()
    if chosen:
        options.cache.mkdir(parents=True, exist_ok=True)
        kernel = image.kernel(options.cache)
        parts = (kernel, image.root(options.cache, options.volleyd, kernel))
    with concurrent.futures.ThreadPoolExecutor(GUESTS_AT_ONCE) as pool:
        judged = []
        for one, names in chosen:
            if reason := skip_reason(one):
                for name in names:
                    tally.skip(name, reason)
                continue
            folder = options.cache / "guests" / one.name
            judged.append(pool.submit(judge_scene, one, names, folder, parts, options.volleyd.parent))
        for done in concurrent.futures.as_completed(judged):
            for told in done.result():
                tally.tell(*told)
    for name in tally.failed:
        print(f"failed: {name}")
    print(f"{tally.passed} passed, {len(tally.failed)} failed")
    return 1 if tally.failed or (options.filter == "*" and tally.passed == 0) else 0


sys.exit(main())
