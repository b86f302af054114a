#!/usr/bin/env bash
# usage: tools/check_style.sh format         every source is as clang-format 14 lays it out
#        tools/check_style.sh tidy BUILD     clang-tidy 14 over lib/ and app/, with the commands of a clang build folder
# A file that was clean is not looked at again until it, a header of lib/ or .clang-tidy changes: stamps in BUILD/tidy/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1-}" in
    format)
        strays=$(git ls-files -co --exclude-standard -- '*.h' '*.cpp' | while read -r file; do
            clang-format-14 --dry-run --Werror "$file" 2>/dev/null || echo "$file"
        done)
        [ -z "$strays" ] || { printf 'not as clang-format-14 -i leaves it:\n%s\n' "$strays"; exit 1; }
        ;;
    tidy)
        build=${2:?the build folder}
        mkdir -p "$build/tidy"
        headers=$({ cat .clang-tidy; find lib -name '*.h' -print0 | sort -z | xargs -0 cat; } | sha256sum)
        export build headers
        # Run by xargs for one file each; two at a time.
        check_one() {
            local stamp
            stamp=$build/tidy/$({ echo "$1 $headers"; cat "$1"; } | sha256sum | cut -c1-32)
            [ -e "$stamp" ] || { clang-tidy-14 --quiet -p "$build" "$1" 2>/dev/null && touch "$stamp"; }
        }
        export -f check_one
        find lib app -name '*.cpp' -print0 | sort -z | xargs -0 -r -n1 -P2 bash -c 'check_one "$0"'
        ;;
    *)
        sed -n '2,4s/^# //p' "$0" >&2
        exit 64
        ;;
esac
