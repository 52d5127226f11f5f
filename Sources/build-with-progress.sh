#!/usr/bin/env bash
# Builds as build.sh does, with the arguments that it is given, and shows in one line how far it is. What the compiler says
# goes to .build/build.log; after a failure the errors in it are printed, and the file's name.
#
# A terminal has one line that is rewritten each second. Anything else gets a line after 3 s and then one each
# BUILD_REPORT_SECONDS (30), and nothing at all if there was nothing to build.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

cd "$(dirname "$0")/.."
log=.build/build.log
first_report_seconds=3
report_seconds=${BUILD_REPORT_SECONDS:-30}
error_lines_max=60
is_terminal=
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then is_terminal=yes; fi

state=Building
step=
steps=
shown=
next_report=$first_report_seconds
interrupted=
build=
# Ctrl-C reaches the build as well; `kill` and make's own end reach this script alone.
trap 'interrupted=130' INT
trap 'interrupted=143; [ -z "$build" ] || kill -INT "$build" 2>/dev/null || true' TERM

# 412 -> 412, 1037 -> 1,037
grouped() { if [ "$1" -lt 1000 ]; then echo "$1"; else printf '%d,%03d\n' $(($1 / 1000)) $(($1 % 1000)); fi; }

elapsed() { printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60)); }

# What a line of SwiftPM says about how far it is.
note_line() {
    if [[ $1 == *'] Planning build' ]]; then
        state=Planning step=
    elif [[ $1 =~ ^\[([0-9]{1,6})/([0-9]{1,6})\]\  ]]; then
        state=Building step=${BASH_REMATCH[1]} steps=${BASH_REMATCH[2]}
    elif [[ $1 =~ ^(Fetching|Computing\ version\ for|Creating\ working\ copy\ for)\ .*/([^/ ]+) ]]; then
        state="Fetching packages (${BASH_REMATCH[2]%.git})" step=
    elif [[ $1 == *'is already running using'* ]]; then
        state="Waiting for another build"
    fi
}

report() {
    local text=$state
    [ "$state" != Building ] || [ -z "$step" ] || text="Building ($(grouped "$step") of $(grouped "$steps"))"
    text+=" … $(elapsed); the log is $log"
    if [ -n "$is_terminal" ]; then
        # In place, and cut at the edge of a narrow terminal instead of wrapped.
        printf '\r\033[?7l%s\033[K\033[?7h' "$text"
    elif [ "$SECONDS" -ge "$next_report" ]; then
        next_report=$((SECONDS + report_seconds))
        echo "$text"
    else
        return 0
    fi
    shown=yes
}

# Each error once, with the lines of source below it; what says only that a command failed is left out. The end of the log if
# there is none.
errors() {
    local found
    found=$(awk -v max="$error_lines_max" '
        printed == max { exit }
        /command failed with exit code|fatalError$/ { below = 0; next }
        /(^|[: ])(fatal )?error: |undefined reference|undefined symbol/ { below = !seen[$0]++; if (below) { print; printed++ }; next }
        below && /^ *[0-9]* *\|/ { print; printed++; next }
        { below = 0 }' "$log")
    if [ -n "$found" ]; then echo "$found"; else tail -n 20 "$log"; fi
}

# Read whole before it runs: a pull may bring another version of this file meanwhile.
main() {
    mkdir -p .build
    # Two at once would write one log.
    exec {lock}>.build/build.lock
    until flock --timeout 1 "$lock"; do
        [ -z "$interrupted" ] || exit "$interrupted"
        state="Waiting for another build"
        report
    done
    state=Building
    exec {log_file}>"$log"

    # The loop runs in this shell and not in one of its own, so that what it notes stays and a signal is seen within a second.
    shopt -s lastpipe
    status=0
    {
        exec {lock}>&- {log_file}>&-
        echo "$BASHPID"
        exec Sources/build.sh "$@"
    } 2>&1 | {
        read -r build
        pending=
        [ -z "$is_terminal" ] || report
        while true; do
            outcome=0
            IFS= read -r -t 1 line || outcome=$?
            # A line of which only a part came in time, or the last one without an end.
            pending+=$line
            if [ "$outcome" -eq 0 ]; then
                printf '%s\n' "$pending" >&"$log_file"
                note_line "$pending"
                pending=
                [ "$SECONDS" -ne "${last_second:-0}" ] || continue
            elif [ "$outcome" -le 128 ]; then
                [ -z "$pending" ] || printf '%s\n' "$pending" >&"$log_file"
                break
            fi
            last_second=$SECONDS
            report
        done
    } || status=${PIPESTATUS[0]}

    [ -z "$shown" ] || [ -z "$is_terminal" ] || printf '\r\033[K'
    [ -z "$interrupted" ] || exit "$interrupted"
    if [ "$status" -ne 0 ]; then
        errors >&2
        echo "Building failed after $(elapsed); all that was said is in $log" >&2
        exit "$status"
    fi
    if [ -n "$shown" ] && [ "$SECONDS" -ge "$first_report_seconds" ]; then echo "Built in $(elapsed)"; fi
}

main "$@"
exit
