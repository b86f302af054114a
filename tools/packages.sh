# Debian packages that Volley needs, and their installation. Sourced by quickstart.sh and test.sh.

build_packages=(
    g++-12 meson ninja-build pkg-config
    libdpdk-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libgtest-dev libpcap-dev libsystemd-dev libboost-dev libssl-dev libcurl4-openssl-dev libncurses-dev scdoc
)
test_packages=(
    clang-14 libclang-rt-14-dev clang-tidy-14 clang-format-14
    dpdk-dev python3 python3-jsonschema jq curl openssl prometheus systemd tshark netsniff-ng iproute2 iputils-ping iputils-arping util-linux
    chromium chromium-driver tmux debhelper dpkg-dev
    qemu-system-x86 busybox-static binutils
)

# npm brings uPlot into the dashboard; Debian's own draws in hundreds of packages, so one that is there will do.
command -v npm >/dev/null || test_packages+=(npm)

# install_missing PACKAGE...: asks apt only for what is not there, so a second run needs neither network nor root.
install_missing() {
    local missing=() package log sudo=
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$EUID" = 0 ] || sudo=sudo
    echo "Installing by apt: ${missing[*]}" >&2
    log=$(mktemp)
    if ! { $sudo apt-get -q update &&
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        rm -f "$log"
        echo "apt could not install what is missing; install it by hand and try again." >&2
        return 69
    fi
    rm -f "$log"
}
