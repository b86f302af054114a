#!/usr/bin/env bash
# Installs what is missing, builds into build/ and runs the quick start configuration for 5 s.
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
exec build/app/volleyd --config conf/quickstart.json --live "${duration[@]}" "$@"
