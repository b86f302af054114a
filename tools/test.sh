#!/usr/bin/env bash
# Builds with g++ 12, with clang 14 under ASan and UBSan, and under TSan, warnings being errors; runs every test of each,
# clang-format and clang-tidy. The last line is "N passed, M failed"; the status says the same.
# usage: tools/test.sh [--quick | --guest] [--filter GTEST_FILTER]
#   --quick     the g++ build alone, without clang-format and clang-tidy
#   --guest     volleyd and volleyctl alone, in every QEMU guest of tests/guest/; the other forms run two of them
#   --filter F  the test cases that match, as GoogleTest's --gtest_filter
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/packages.sh
. tools/build.sh

quick=false
guest=false
filter=
while [ $# -gt 0 ]; do
    case "$1" in
        --quick) quick=true ;;
        --guest) guest=true ;;
        --filter) filter=${2:?--filter needs a pattern}; shift ;;
        --filter=*) filter=${1#*=} ;;
        *) sed -n '2,8s/^# //p' "$0" >&2; exit 64 ;;
    esac
    shift
done
[ -z "$filter" ] || export GTEST_FILTER=$filter

install_missing "${build_packages[@]}" "${test_packages[@]}" || exit

count=()    # what tools/count_tests.py adds up
say() { printf '[%4ds] %s\n' "$SECONDS" "$*"; }
# check NAME COMMAND...: one more thing that passes or fails.
check() {
    local name=$1
    shift
    say "$name"
    if "$@"; then count+=(--passed "$name"); else count+=(--failed "$name"); fi
}
# build_and_test LABEL FOLDER COMPILER MESON_OPTION...
build_and_test() {
    local label=$1 folder=$2 compiler=$3
    shift 3
    say "$label: build in $folder/"
    if ! build "$folder" "$compiler" all "$@"; then
        count+=(--failed "$label: build")
        return
    fi
    say "$label: tests"
    rm -f "$folder"/meson-logs/testlog.*
    # Its own listing is put aside: count_tests.py tells the same case by case.
    meson test -C "$folder" --no-rebuild --num-processes 2 >"$folder/meson-logs/test.out" 2>&1 </dev/null
    count+=("$label=$folder")
}

if $guest; then
    build build g++-12 app/volleyd && build build g++-12 app/volleyctl || exit
    exec tests/guest/guests.py --volleyd build/app/volleyd --cache build/guest ${filter:+--filter "$filter"}
fi
build_and_test gcc build g++-12
if ! $quick; then
    build_and_test asan build-asan clang++-14 -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1
    build_and_test tsan build-tsan clang++-14 -Db_sanitize=thread -Db_lundef=false -Doptimization=1
    if [ -z "$filter" ]; then
        check clang-format run_quietly tools/check_style.sh format
        if [ -f build-asan/compile_commands.json ]; then check clang-tidy run_quietly tools/check_style.sh tidy build-asan; fi
    fi
fi
say "done"
tools/count_tests.py ${filter:+--filtered} "${count[@]}"
