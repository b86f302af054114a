#!/usr/bin/env bash
# Installs what is missing, builds into build/, and for 5 s sends, receives and compares what conf/quickstart.json says.
# usage: tools/quickstart.sh [-- VOLLEYD_ARGUMENT...]     for example  tools/quickstart.sh -- --duration 1m
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/packages.sh
. tools/build.sh

case "${1-}" in
    --) shift ;;
    "") ;;
    *) sed -n '2,3s/^# //p' "$0" >&2; exit 64 ;;
esac

# stdout is volleyd's alone: `tools/quickstart.sh | jq .` works.
install_missing "${build_packages[@]}"
[ -x build/app/volleyd ] || echo "Building volleyd into build/ (a few minutes the first time)" >&2
build build g++-12 app/volleyd

duration=(--duration 5s)
for argument in "$@"; do
    case "$argument" in --duration | --duration=*) duration=() ;; esac
done
report=$(mktemp)
trap 'rm -f "$report"' EXIT
trap : INT  # volleyd has it too: it drains and reports
code=0
build/app/volleyd --config conf/quickstart.json --live --report "$report" "${duration[@]}" "$@" || code=$?
# On stderr, as all that is not volleyd's.
[ ! -s "$report" ] || python3 - "$report" >&2 <<'END'
import json, sys
print(f"{'stream':<8}{'sent':>10}{'received':>10}{'lost':>6}{'corrupted':>10}   latency: half / 99 % / 99.9 % within")
for stream in json.load(open(sys.argv[1]))["streams"]:
    rx, latency = stream["rx"], stream["rx"]["latency_ns"]
    times = " / ".join(f"{latency[p] / 1000:.1f} us" for p in ("p50", "p99", "p99_9")) if latency else "no packet came"
    print(f"{stream['name']:<8}{stream['tx']['packets']:>10}{rx['packets']:>10}{rx['lost']:>6}{rx['corrupted']:>10}   {times}")
END
exit "$code"
