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
mkdir "$work/packages"
git -C "$source" ls-files -z | (cd "$source" && xargs -0 cp --parents -t "$work/packages" --no-dereference)
mv "$work/packages/tools/packaging/debian" "$work/packages/debian"
export DEB_BUILD_OPTIONS=nocheck
if [ $# -gt 1 ]; then
    # A copy, set up for /usr: the developer's folder keeps its prefix. Nothing is compiled again.
    export VOLLEY_BUILT=$work/build
    cp -a "$(realpath "$2")" "$VOLLEY_BUILT"
    meson setup --reconfigure -Dprefix=/usr "$VOLLEY_BUILT" "$source" >"$work/setup.log" || { cat "$work/setup.log" >&2; exit 1; }
fi
cd "$work/packages"
dpkg-buildpackage -b -us -uc >"$work/build.log" 2>&1 </dev/null || { cat "$work/build.log" >&2; exit 1; }
mv "$work"/*.deb "$out/"
