#!/usr/bin/env bash
# Checks deploy/local-kafka with real brokers: starting, reading back what was written, the exporters, stopping, and
# that a failed or interrupted start leaves no process. About a minute.
#
#   tests/e2e/local_kafka_test.sh [--kafka-version V]     default: what deploy/local-kafka starts by default
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
lk=$root/deploy/local-kafka
version=()
while [ $# -gt 0 ]; do
  case $1 in
    --kafka-version) version=(--kafka-version "${2:?--kafka-version needs a value}"); shift 2 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
unset TMPDIR # the default data folder is looked at below
work=$(mktemp -d /var/tmp/lk-test.XXXXXX)
log=$work/log
passed=0 failed=0

# Processes with this test's folder in their command line; the pattern comes from a file, or grep would find itself.
left() { grep -lzFf <(echo "$work/") /proc/[0-9]*/cmdline 2>/dev/null | wc -l; }
cleanup() {
  local d
  for d in "$work"/*/; do "$lk/down" --data-dir "$d" --timeout 5 >/dev/null 2>&1 </dev/null; done
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ok() { passed=$((passed + 1)); echo "ok    $1"; }
bad() { failed=$((failed + 1)); echo "FAIL  $1"; sed 's/^/      /' "$log" | tail -n 15; }
check() { # WHAT COMMAND…: the command succeeds
  local what=$1
  shift
  if "$@" >"$log" 2>&1; then ok "$what"; else bad "$what (exit status $?)"; fi
}
check_rc() { # WHAT STATUS COMMAND…
  local what=$1 want=$2 rc
  shift 2
  "$@" >"$log" 2>&1
  rc=$?
  if [ "$rc" = "$want" ]; then ok "$what"; else bad "$what (exit status $rc, not $want)"; fi
}
said() { # WHAT PATTERN: the last checked command printed it
  if grep -qE -- "$2" "$log"; then ok "$1"; else bad "$1: no '$2' in its output"; fi
}
equal() { if [ "$2" = "$3" ]; then ok "$1"; else echo "got '$2', expected '$3'" >"$log"; bad "$1"; fi; }
http() { # HOST PORT
  # shellcheck disable=SC2016
  timeout 10 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf "GET /metrics HTTP/1.0\r\n\r\n" >&3 && cat <&3' http "$1" "$2"
}

main=$work/main
echo "three brokers and a controller"
check "up" "$lk/up" --data-dir "$main" "${version[@]}"
check "up again with the same options" "$lk/up" --data-dir "$main" "${version[@]}"
said "it says so" 'already up'
check_rc "up with other options is refused" 1 "$lk/up" --data-dir "$main" --brokers 1 "${version[@]}"
said "it names the difference" 'brokers 3 \(asked: 1\)'
check_rc "status" 0 "$lk/status" --data-dir "$main"
equal "status has four nodes, all up" "$(grep -c 'up$' "$log")" 4
check "env" "$lk/env" --data-dir "$main"
eval "$(cat "$log")"
equal "env has three addresses" "$(tr ',' '\n' <<<"$BRINK_KAFKA_BOOTSTRAP" | grep -c '^127\.0\.0\.1:[0-9]*$')" 3
check "env --brinkd-config" "$lk/env" --brinkd-config --data-dir "$main"
equal "it has a block for each broker" "$(grep -c '^\[\[clusters.metrics\]\]$' "$log")" 3

tool() { "$lk/local-kafka" tool --data-dir "$main" "$@"; }
check "a topic with 30 partitions and three replicas" tool org.apache.kafka.tools.TopicCommand \
  --bootstrap-server "$BRINK_KAFKA_BOOTSTRAP" --create --topic t --partitions 30 --replication-factor 3
seq 1 5000 >"$work/in"
if command -v kcat >/dev/null; then
  produce() { kcat -b "$BRINK_KAFKA_BOOTSTRAP" -t "$1" -P <"$work/in"; }
  consume() { kcat -b "$BRINK_KAFKA_BOOTSTRAP" -t "$1" -C -e -q -o beginning >"$work/out"; }
else
  produce() { tool org.apache.kafka.tools.ConsoleProducer --bootstrap-server "$BRINK_KAFKA_BOOTSTRAP" --topic "$1" <"$work/in"; }
  consume() { tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$BRINK_KAFKA_BOOTSTRAP" --topic "$1" \
    --from-beginning --max-messages 5000 --timeout-ms 20000 >"$work/out"; }
fi
check "5000 messages in" produce t
check "and out" consume t
equal "the same ones" "$(sort -n "$work/out" | sha256sum)" "$(sha256sum <"$work/in")"

messages=0
for url in $BRINK_KAFKA_METRICS; do
  port=${url#*:*:} port=${port%%/*}
  http 127.0.0.1 "$port" >"$work/scrape"
  equal "exporter of broker ${url%%=*}: idle counter, ISR counters and version" "$(grep -cE \
    '^kafka_server_(kafkarequesthandlerpool_count\{name="RequestHandlerAvgIdle|replicamanager_count\{name="Isr(Shrinks|Expands)|app_info_version)' \
    "$work/scrape")" 4
  size=$(wc -c <"$work/scrape")
  if [ "$size" -lt 40000 ]; then ok "its scrape is small: $size B"; else bad "its scrape is $size B"; fi
  n=$(sed -n 's/^kafka_server_brokertopicmetrics_count{name="MessagesInPerSec"} //p' "$work/scrape")
  messages=$(awk -v a="$messages" -v b="$n" 'BEGIN { printf "%d", a + b }')
done
# A consumer's committed offsets are messages too.
if [ "$messages" -ge 5000 ] && [ "$messages" -lt 5100 ]; then ok "the exporters counted the messages"; else bad "the exporters counted $messages messages"; fi

echo "a node killed"
pid=$(tr ' ' '\n' <<<"$BRINK_KAFKA_PIDS" | sed -n 's/^2=//p')
kill -KILL "$pid"
sleep 0.3
check_rc "status says so" 3 "$lk/status" --data-dir "$main"
said "and which" '^2 .*dead$'
check_rc "up does not hide it" 1 "$lk/up" --data-dir "$main" "${version[@]}"
said "and says what to do" "only 3 of 4 nodes .*down"

echo "down, keeping the data"
check "down --keep-data" "$lk/down" --data-dir "$main" --keep-data
equal "no process left" "$(left)" 0
check_rc "status of a stopped cluster" 3 "$lk/status" --data-dir "$main"
check "up on the kept data" "$lk/up" --data-dir "$main" "${version[@]}"
eval "$("$lk/env" --data-dir "$main")"
check "the messages are still there" consume t
equal "all of them" "$(sort -n "$work/out" | sha256sum)" "$(sha256sum <"$work/in")"

echo "a combined one beside it, and failures"
second=$work/second
check "up --combined" "$lk/up" --data-dir "$second" --combined --brokers 1 "${version[@]}"
check "its status" "$lk/status" --data-dir "$second"
said "it has the role" 'broker\+controller'
taken=${BRINK_KAFKA_BOOTSTRAP%%,*} taken=${taken##*:}
before=$(left)
check_rc "up on a port that is taken" 1 "$lk/up" --data-dir "$work/third" --base-port "$taken" "${version[@]}"
said "it names the port" "in use: port $taken"
printf 'num.io.threads=none\n' >"$work/wrong.properties"
check_rc "up with an invalid setting" 1 "$lk/up" --data-dir "$work/third" --profile "$work/wrong.properties" "${version[@]}"
said "it names the setting and the log" "num.io.threads.*log: $work/third/logs"
printf 'log.dirs=/proc/nowhere\n' >"$work/wrong.properties"
check_rc "up with a setting that only the broker finds wrong" 1 "$lk/up" --data-dir "$work/third" --profile "$work/wrong.properties" "${version[@]}"
check_rc "up without the time to get ready" 1 "$lk/up" --data-dir "$work/third" --timeout 1 "${version[@]}"
said "it says what was missing" 'not ready after 1 s: '
"$lk/up" --data-dir "$work/third" "${version[@]}" >"$log" 2>&1 &
up=$!
for _ in $(seq 100); do [ "$(wc -l 2>/dev/null <"$work/third/nodes")" = 4 ] && break; sleep 0.1; done
kill -TERM "$up"
wait "$up"
equal "an interrupted up ends with 143" $? 143
equal "failed and interrupted starts left no process" "$(left)" "$before"
mkdir "$work/foreign" && touch "$work/foreign/precious"
check_rc "up in a folder with other files is refused" 1 "$lk/up" --data-dir "$work/foreign"
check_rc "a wrong option" 2 "$lk/up" --brokers none
printf 'local-kafka.produce_quota=1\n' >"$work/wrong.properties"
check_rc "a profile with a setting of ours that there is not" 1 "$lk/up" --data-dir "$work/fourth" --profile "$work/wrong.properties"
said "it names the setting" "cannot do 'local-kafka.produce_quota=1'"
check_rc "an unpinned version" 1 "$lk/up" --data-dir "$work/fourth" --kafka-version 9.9.9

echo "down"
check "down of the combined one" "$lk/down" --data-dir "$second"
check "the other one is untouched" "$lk/status" --data-dir "$main"
check "down" "$lk/down" --data-dir "$main"
check "down again" "$lk/down" --data-dir "$main"
said "it says that nothing runs" 'nothing to stop'
check "down of what never came up" "$lk/down" --data-dir "$work/third"
equal "no process left" "$(left)" 0
equal "no folder left" "$(cd "$work" && printf '%s ' */)" 'foreign/ '

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
