# shellcheck shell=bash
# The processes of one cluster: starting, recognising and stopping them. Sourced by local-kafka.
#
# DATA/nodes has a line for each process started: ID ROLE PID STARTTIME PORT METRICS_PORT. A process counts as
# ours only while its start time, in clock ticks since boot, is the recorded one: a pid alone may be anybody's by now.

# start_time PID: prints it; fails when the process is gone or a zombie.
start_time() {
  local line
  local -a field
  read -r line 2>/dev/null <"/proc/$1/stat" || return 1
  read -ra field <<<"${line##*) }" # the name before the last ')' may hold spaces
  [ "${field[0]}" != Z ] && [ "${field[0]}" != X ] && echo "${field[19]}"
}

alive() { # PID STARTTIME
  local now
  now=$(start_time "$1") && [ "$now" = "$2" ]
}

# Every JVM that we start for this folder carries the mark as an argument, so that one which an 'up' ended by
# SIGKILL left behind unrecorded is found too. The pattern comes from a file, or grep would find itself. In a
# chroot the same path can be another folder, while /proc shows everybody's processes: hence the marker's file.
mark() { echo "-Dbrink.local-kafka=$DATA"; }
marked_pids() {
  local pid own=$DATA/.brink-local-kafka
  { grep -lzxFf <(mark) /proc/[0-9]*/cmdline 2>/dev/null || true; } | while IFS=/ read -r _ _ pid _; do
    [ ! "/proc/$pid/root$own" -ef "$own" ] || echo "$pid"
  done
}

# Prints "PID STARTTIME ROLE" of each process of ours that lives.
living() {
  local id role pid start rest known=' '
  if [ -e "$DATA/nodes" ]; then
    while read -r id role pid start rest; do
      if alive "$pid" "$start"; then echo "$pid $start $role"; known+="$pid "; fi
    done <"$DATA/nodes"
  fi
  for pid in $(marked_pids); do
    [[ $known == *" $pid "* ]] || ! start=$(start_time "$pid") || echo "$pid $start unrecorded"
  done
}

# wait_gone SECONDS "PID START ROLE"…: true when all went in time.
wait_gone() {
  local end=$((SECONDS + $1)) p pid start
  shift
  for p; do
    read -r pid start _ <<<"$p"
    while alive "$pid" "$start"; do
      [ "$SECONDS" -lt "$end" ] || return 1
      sleep 0.1
    done
  done
}

signal() { # NAME "PID START ROLE"…
  local name=$1 p pid start
  shift
  for p; do
    read -r pid start _ <<<"$p"
    if alive "$pid" "$start"; then kill -s "$name" "$pid" 2>/dev/null || true; fi
  done
}

# stop_all SECONDS: brokers first, since a controlled shutdown needs the controller; what is left is killed.
# A stopped (SIGSTOP) process takes its TERM only after a CONT.
stop_all() {
  local -a all brokers
  local pid start
  mapfile -t all < <(living)
  # Our own children too: one that has just been forked is not yet written down and does not yet have the mark.
  for pid in $(jobs -pr); do
    [[ " ${all[*]} " == *" $pid "* ]] || ! start=$(start_time "$pid") || all+=("$pid $start child")
  done
  [ ${#all[@]} -gt 0 ] || return 0
  mapfile -t brokers < <(printf '%s\n' "${all[@]}" | grep ' broker$' || true)
  signal TERM "${brokers[@]}"
  signal CONT "${all[@]}"
  wait_gone "$1" "${brokers[@]}" || true
  signal TERM "${all[@]}"
  wait_gone 5 "${all[@]}" || signal KILL "${all[@]}"
  wait_gone 10 "${all[@]}" || die "processes do not end: $(printf '%s; ' "${all[@]}")"
}

# cause FILE: the one line of a node's log that says best why it stopped.
cause() {
  local p line
  for p in 'Address already in use' 'ConfigException' '^Caused by' '(Exception|Error):' 'ERROR|FATAL'; do
    line=$(grep -m 1 -E "$p" "$1" 2>/dev/null) && break
  done
  [ -n "$line" ] || line=$(tail -n 1 "$1" 2>/dev/null) || true
  line=${line#Exception in thread * java.}
  echo "${line:0:300}"
}

# jvm ID LOG CLASS-AND-ARGUMENTS…: starts a process in a session of its own, so that neither the terminal's Ctrl-C
# nor its closing reaches it. Sets LAST_PID. JVM has the options that go before the class.
jvm() {
  local id=$1 log=$2
  shift 2
  setsid "${NS[@]}" "$JAVA" "$(mark)" "-Dbrink.local-kafka.node=$id" "${JVM[@]}" -cp "$JARS/libs/*" "$@" \
    </dev/null >>"$log" 2>&1 9>&- &
  LAST_PID=$!
}

# write_config ID ROLE PORT
write_config() {
  local id=$1 role=$2 port=$3 rf=$((P[brokers] < 3 ? P[brokers] : 3)) listeners roles
  local ctl=CONTROLLER://${P[bind]}:$CTL_PORT own=$LISTENER://${P[bind]}:$port
  case $role in
    controller) roles=controller listeners=$ctl ;;
    broker+controller) roles=broker,controller listeners=$own,$ctl ;;
    broker) roles=broker listeners=$own ;;
  esac
  {
    echo "process.roles=$roles"
    echo "node.id=$id"
    echo "controller.quorum.voters=$CTL_ID@${P[bind]}:$CTL_PORT"
    echo "controller.listener.names=CONTROLLER"
    echo "listeners=$listeners"
    echo "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT"
    echo "log.dirs=$DATA/node-$id"
    [ "$role" != controller ] || return 0
    echo "advertised.listeners=$own"
    echo "inter.broker.listener.name=$LISTENER"
    tls_config
    [ "${P[racks]}" = 0 ] || echo "broker.rack=rack-$(((id - 1) % P[racks] + 1))"
    echo "auto.create.topics.enable=false"
    echo "default.replication.factor=$rf"
    echo "offsets.topic.replication.factor=$rf"
    echo "offsets.topic.num.partitions=12"
    echo "transaction.state.log.replication.factor=$rf"
    echo "transaction.state.log.min.isr=$((rf < 2 ? rf : 2))"
    echo "transaction.state.log.num.partitions=12"
    echo "group.initial.rebalance.delay.ms=0"
    echo "unclean.leader.election.enable=false"
    echo "controlled.shutdown.enable=true"
    echo "log.segment.delete.delay.ms=1000"
    # The cleaner's default buffer, 128 MB, is a quarter of the small heap.
    echo "log.cleaner.dedupe.buffer.size=16777216"
    echo "# profile ${P[profile]}"
    grep -v '^local-kafka\.' "$PROFILE_FILE" || true
  } >"$DATA/conf/node-$id.properties"
}

# Formats the folders of all nodes that have none yet, at the same time.
format_nodes() {
  local node id i log
  local -a ids=() pids=()
  for node in "${LAYOUT[@]}"; do
    id=${node%% *} log=$DATA/logs/node-${node%% *}.log
    [ ! -e "$DATA/node-$id/meta.properties" ] || continue
    jvm "$id" "$log" kafka.tools.StorageTool format -t "$CLUSTER_ID" -c "$DATA/conf/node-$id.properties"
    ids+=("$id") pids+=("$LAST_PID")
  done
  for i in "${!ids[@]}"; do
    log=$DATA/logs/node-${ids[i]}.log
    wait "${pids[i]}" || die "could not format the folder of node ${ids[i]}: $(cause "$log") (log: $log)"
  done
}

# start_node ID ROLE PORT METRICS_PORT; METRICS_PORT is - for a node without an exporter.
start_node() {
  local log=$DATA/logs/node-$1.log class=kafka.Kafka
  local -a JVM=("${RUN_JVM[@]}")
  [ "$4" = - ] || JVM+=("-javaagent:$AGENT=${P[bind]}:$4:$HERE/jmx.yaml")
  jvm "$1" "$log" $class "$DATA/conf/node-$1.properties"
  echo "$1 $2 $LAST_PID $(start_time "$LAST_PID" || echo 0) $3 $4" >>"$DATA/nodes"
}

# held_ports FIRST N: prints those of N consecutive ports that some socket holds; true when none does.
held_ports() {
  local port out=''
  local -A held=()
  while read -r port; do held[$port]=1; done < <("${NS[@]}" bash "$HERE/lib/probe.sh" used)
  for ((port = $1; port < $1 + $2; port++)); do [ -z "${held[$port]:-}" ] || out+="${out:+, }$port"; done
  echo "$out"
  [ -z "$out" ]
}

# free_block N: prints the first of N consecutive free ports, at random below the range that the kernel hands to
# clients, so that clusters starting at the same time rarely meet. They still may: 'up' then tries others.
free_block() {
  local low first tries
  read -r low _ </proc/sys/net/ipv4/ip_local_port_range
  [ "$low" -gt 22000 ] || low=32000
  for ((tries = 0; tries < 50; tries++)); do
    first=$((low - 12000 + RANDOM % (12000 - $1)))
    if held_ports "$first" "$1" >/dev/null; then echo "$first"; return; fi
  done
  die "no $1 free ports in a row between $((low - 12000)) and $low"
}
