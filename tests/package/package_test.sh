#!/usr/bin/env bash
# The Debian packages: built from a finished build folder, installed, run under the unit's user, removed.
# usage: package_test.sh SOURCE BUILD
# Exit code 77 unless VOLLEY_INSTALL=1 says that this machine may be installed on; .ci/run says so.
# What it cannot do: there is no systemd to start the unit with, so its user and its directories are made by hand.
set -euo pipefail
source=$1 build=$2
if [ "${VOLLEY_INSTALL-}" != 1 ] || [ "$EUID" != 0 ]; then
    echo "VOLLEY_INSTALL=1 and root are needed to install packages"
    exit 77
fi
work=$(mktemp -d)
cleanup() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y purge volley volley-doc >"$work/purge.log" 2>&1 || cat "$work/purge.log"
    rm -rf "$work"
}
trap cleanup EXIT
fail() {
    echo "$*" >&2
    exit 1
}

"$source/tools/packaging/build.sh" "$work" "$build"
DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$work"/volley_*.deb "$work"/volley-doc_*.deb \
    >"$work/install.log" 2>&1 || { cat "$work/install.log"; fail "the packages do not install"; }

[ "$(/usr/sbin/volleyd --version)" = "$("$build/app/volleyd" --version)" ] || fail "another volleyd was installed"
id volley >/dev/null || fail "the unit's user is missing"
systemd-analyze verify /lib/systemd/system/volleyd.service || fail "systemd does not take the unit"
man --warnings -l /usr/share/man/man8/volleyd.8.gz >/dev/null 2>&1 || [ ! -x /usr/bin/man ] || fail "no manual page"
[ -f /usr/share/doc/volley/operations.md.gz ] || fail "no documentation"

# As the unit runs it: its user, a runtime directory of its own, no root.
chmod 755 "$work"
install -d -o volley -g volley "$work/run"
cat >"$work/volley.json" <<'END'
{"version": 1, "name": "package", "eal": {"lcores": "0@0,1@0,2@0", "huge_pages": "no", "memory_mib": 64},
 "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2]}}],
 "streams": [{"name": "one", "port": "east", "rate": "10kpps", "count": 1000,
              "packet": {"frame_size": 64, "headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {}}]}}]}
END
chmod 644 "$work/volley.json"
volleyctl config check "$work/volley.json"
(cd "$work/run" && RUNTIME_DIRECTORY=$work/run setpriv --reuid volley --regid volley --clear-groups --no-new-privs \
    /usr/sbin/volleyd --config "$work/volley.json" >"$work/out" 2>"$work/err") || { cat "$work/err"; fail "volleyd fails as its user"; }
tail -n 1 "$work/out" | jq -e '.settled and .streams[0].tx.packets == 1000' >/dev/null || fail "the report is not that of 1000 packets"

DEBIAN_FRONTEND=noninteractive apt-get -q -y remove volley >"$work/remove.log" 2>&1 || { cat "$work/remove.log"; fail "it cannot be removed"; }
[ ! -e /usr/sbin/volleyd ] || fail "removal leaves volleyd"
echo "the packages install, run and go"
