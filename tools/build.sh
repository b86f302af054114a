# How a build folder is made and filled. Sourced by quickstart.sh and test.sh.

# run_quietly COMMAND...: output is shown, in full, only when the command fails.
run_quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 </dev/null || status=$?
    [ "$status" = 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

# build FOLDER COMPILER TARGET MESON_OPTION...: TARGET "all" is everything. Sets up the folder at the first call.
build() {
    local folder=$1 compiler=$2 target=$3
    shift 3
    # A set-up that broke off leaves no build.ninja, and meson stumbles over the rest.
    if [ ! -f "$folder/build.ninja" ]; then
        rm -rf "$folder/meson-private" "$folder/meson-info"
        run_quietly env CXX="$compiler" meson setup "$folder" "$@" || return 70
    fi
    run_quietly ninja --quiet -C "$folder" "$target" || return 70
}
