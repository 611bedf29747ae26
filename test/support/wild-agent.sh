#!/bin/bash
# A light agent that leaves processes everywhere: wild-agent.sh TAG HABIT… Each of them shows the tag in its arguments.
tag=$1
shift
hold() { exec -a "$tag-$1" sleep 100000; }
for habit in "$@"; do
  case $habit in
    deaf) trap '' TERM HUP INT QUIT ;;
    forks) (hold child) & (hold child) & ;;
    group) set -m; (hold group) & set +m ;;
    setsid) setsid bash -c 'exec -a "$0-setsid" sleep 100000' "$tag" & ;;
    daemon) (setsid bash -c '(exec -a "$0-daemon" sleep 100000 </dev/null >/dev/null 2>&1 &)' "$tag" &) ;;
    tty) (hold tty </dev/tty >/dev/tty 2>&1) & ;;
    bare) env -i PATH="$PATH" bash -c 'exec -a "$0-bare" sleep 100000' "$tag" & ;;
    quits) exit 5 ;;
  esac
done
while read -r word code; do
  case $word in
    exit) exit "$code" ;;
  esac
done
hold rest
