#!/usr/bin/env bash
# Builds the Debian packages volley and volley-doc. usage: tools/packaging/build.sh OUT [BUILD]
#   OUT     the folder for the .deb files
#   BUILD   a finished build folder whose programs are packaged; without it everything is built anew
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$(realpath "${1:?the folder for the packages}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$out"
git -C "$source" ls-files -z | (cd "$source" && xargs -0 cp --parents -t "$work" --no-dereference)
mv "$work/tools/packaging/debian" "$work/debian"
export DEB_BUILD_OPTIONS=nocheck
if [ $# -gt 1 ]; then
    # A copy, set up for /usr: the developer's folder keeps its prefix. Nothing is compiled again.
    cp -a "$(realpath "$2")" "$work/../$(basename "$work").build"
    trap 'rm -rf "$work" "$work.build"' EXIT
    meson setup --reconfigure -Dprefix=/usr "$work.build" "$source" >"$work/setup.log" || { cat "$work/setup.log" >&2; exit 1; }
    rm "$work/setup.log"
    export VOLLEY_BUILT=$work.build
fi
mkdir "$work/packages" && mv "$work"/* "$work/packages/" 2>/dev/null || true
cd "$work/packages"
dpkg-buildpackage -b -us -uc >"$work/build.log" 2>&1 </dev/null || { cat "$work/build.log" >&2; exit 1; }
mv "$work"/*.deb "$out/"
