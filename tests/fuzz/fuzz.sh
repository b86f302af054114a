#!/usr/bin/env bash
# One libFuzzer target on seeds, for a minute; with VOLLEY_LONG set that many, or 600 for a word.
# usage: fuzz.sh PROGRAM FOLDER|FILE...
# Folders that are not there (of a corpus outside the repository) are left out. What it finds is left in the working folder.
set -eu
program=$1
shift
seconds=60
if [ -n "${VOLLEY_LONG:-}" ]; then
    seconds=600
    case $VOLLEY_LONG in *[!0-9]* | 1) ;; *) seconds=$VOLLEY_LONG ;; esac
fi
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
for seed in "$@"; do
    case $seed in '$VOLLEY_CORPUS'/*)
        [ -n "${VOLLEY_CORPUS:-}" ] || continue
        seed=$VOLLEY_CORPUS${seed#\$VOLLEY_CORPUS} ;;
    esac
    if [ -e "$seed" ]; then find -H "$seed" -maxdepth 1 -type f -exec cp --backup=numbered -t "$corpus" {} +; fi
done
chmod -R u+w "$corpus"
"$program" -max_total_time="$seconds" -max_len=4096 -timeout=25 -rss_limit_mb=1024 -seed=1 -print_final_stats=1 "$corpus"
