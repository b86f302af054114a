# Completion of volleyctl for bash: volleyctl itself says what may stand there. Put it into
# /usr/share/bash-completion/completions/volleyctl, or source it.
_volleyctl() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$(printf '%q' "$word")")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _volleyctl volleyctl
