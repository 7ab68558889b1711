#!/usr/bin/env bash
# Asks the nodes of a local cluster whether they are ready. A program of its own, since it has to run inside the
# nodes' network namespace; plain bash sockets, since a bare machine has neither curl nor a Kafka client.
#
#   probe.sh listening HOST PORT        does anything accept connections there?
#   probe.sh used                       the ports that some socket of this network namespace holds, one a line
#   probe.sh ready PROTOCOL HOST N PORT:METRICS…
#                                       PROTOCOL is PLAINTEXT or SSL; prints what is not ready yet; nothing when all is
set -euo pipefail

# shellcheck disable=SC2016
listening() { timeout 2 bash -c 'exec 3<>"/dev/tcp/$1/$2"' probe "$1" "$2" 2>/dev/null; }

# Local ports are the hexadecimal field after the colon in /proc/net/tcp; TIME_WAIT (06) does not stop a listener.
used() {
  local a st rest
  while read -r _ a _ st rest; do
    [[ $a == *:* && $st != 06 ]] || continue
    printf '%d\n' "0x${a##*:}"
  done < <(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null)
}

# How many brokers a broker tells its clients about: a Metadata request, version 1, for no topic. The answer is
# length, correlation id, number of brokers. A broker lists only those that the controller has let in, so this
# is registration as a client sees it.
brokers_seen() { # PROTOCOL HOST PORT
  # shellcheck disable=SC2016
  timeout 5 bash -c '
    request="\0\0\0\016\0\003\0\001\0\0\0\001\377\377\0\0\0\0"
    if [ "$1" = SSL ]; then
      exec 3< <(exec openssl s_client -quiet -connect "$2:$3" < <(printf "$request"))
      tls=$!
    else
      exec 3<>"/dev/tcp/$2/$3"
      printf "$request" >&3
    fi
    answer=$(head -c 12 <&3 | od -An -tu1)
    [ -z "${tls:-}" ] || kill "$tls"
    set -- $answer
    [ $# = 12 ] && echo $(( ${11} * 256 + ${12} ))' probe "$@" 2>/dev/null || echo 0
}

scrape() {
  # shellcheck disable=SC2016
  timeout 5 bash -c '
    exec 3<>"/dev/tcp/$1/$2"
    printf "GET /metrics HTTP/1.0\r\nHost: %s\r\n\r\n" "$1" >&3
    cat <&3' probe "$1" "$2" 2>/dev/null || true
}

ready() {
  local protocol=$1 host=$2 want=$3 pair port metrics seen
  shift 3
  for pair; do
    port=${pair%:*} metrics=${pair#*:}
    seen=$(brokers_seen "$protocol" "$host" "$port")
    [ "$seen" -ge "$want" ] || { echo "the broker at $host:$port knows $seen of $want brokers"; return; }
    # A here-string, not a pipe: with pipefail, grep -q ending early would count as a failed scrape.
    grep -q '^kafka_server_kafkarequesthandlerpool_count{name="RequestHandlerAvgIdlePercent"' \
      <<<"$(scrape "$host" "$metrics")" ||
      { echo "the exporter at $host:$metrics has no idle counter yet"; return; }
  done
}

command=$1
shift
"$command" "$@"
