#!/usr/bin/env bash
# Fetches uPlot, which draws the dashboard's plots, from the npm registry: the version named here, judged by its checksum.
# usage: tools/vendor_uplot.sh JS CSS LICENSE      the three files to write
set -euo pipefail
version=1.6.32
sha512=KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
js=$(realpath "$1") css=$(realpath "$2") license=$(realpath "$3")
cd "$folder"
npm pack --silent "uplot@$version" >/dev/null
found=$(openssl dgst -sha512 -binary "uplot-$version.tgz" | base64 -w0)
[ "$found" = "$sha512" ] || { echo "uplot-$version.tgz is not what was reviewed: sha512 $found" >&2; exit 1; }
tar xzf "uplot-$version.tgz"
cp package/dist/uPlot.iife.min.js "$js"
cp package/dist/uPlot.min.css "$css"
cp package/LICENSE "$license"
