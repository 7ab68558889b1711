# shellcheck shell=bash
# What a profile asks for besides the brokers' own properties: its lines "local-kafka.KEY=VALUE", which the brokers
# never see. Sourced by local-kafka.
#
#   local-kafka.produce_quota_bytes_per_s=N    a produce quota for the clients' principal, ANONYMOUS, on each broker
#   local-kafka.listener=SSL                   clients and brokers speak TLS, with a certificate made for this cluster
#   local-kafka.last_broker_cpu_percent=N      the broker with the highest id may use N % of one CPU

# setting KEY: prints its value in the profile; nothing when it is not there.
setting() { sed -n "s/^local-kafka\.$1=//p" "$PROFILE_FILE" | tail -n 1; }

check_settings() {
  local key value
  while IFS='=' read -r key value; do
    case $key=$value in
      produce_quota_bytes_per_s=[1-9]* | listener=SSL | listener=PLAINTEXT | last_broker_cpu_percent=[1-9]*) ;;
      *) die "profile ${P[profile]}: cannot do 'local-kafka.$key=$value' ($HERE/lib/profile.sh lists what it can)" ;;
    esac
  done < <(sed -n 's/^local-kafka\.//p' "$PROFILE_FILE")
  LISTENER=$(setting listener)
  LISTENER=${LISTENER:-PLAINTEXT}
}

# Quotas are kept in the cluster's metadata, so they are set when it is up. Kafka's default quota window is 11
# samples of a second: throttling begins up to ten seconds after the load has passed the quota.
set_quota() {
  local bytes boot
  bytes=$(setting produce_quota_bytes_per_s)
  [ -n "$bytes" ] || return 0
  boot=$(describe BRINK_KAFKA_BOOTSTRAP)
  boot=${boot#*=\'}
  tool_class kafka.admin.ConfigCommand --bootstrap-server "${boot%\'}" --alter --entity-type users \
    --entity-name ANONYMOUS --add-config "producer_byte_rate=$bytes" >"$DATA/logs/quota.log" 2>&1 ||
    die "could not set the produce quota: $(cause "$DATA/logs/quota.log") (log: $DATA/logs/quota.log)"
  say "clients may produce $bytes B/s to each broker"
}

# A certificate that signs itself: the brokers' own, what they trust among each other, and what clients have to trust.
make_certificate() {
  local dir=$DATA/conf/tls
  [ "$LISTENER" = SSL ] || return 0
  command -v openssl >/dev/null || apt_install openssl || die "profile ${P[profile]} needs openssl (Debian: apt-get install openssl)"
  [ ! -e "$dir/broker.pem" ] || return 0
  mkdir -p "$dir"
  (umask 077 && openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj '/CN=brink local-kafka' \
    -addext "subjectAltName=IP:${P[bind]},DNS:localhost" -keyout "$dir/key.pem" -out "$dir/ca.pem" &&
    cat "$dir/key.pem" "$dir/ca.pem" >"$dir/broker.pem") >"$DATA/logs/tls.log" 2>&1 ||
    die "openssl could not make a certificate: $(tail -n 1 "$DATA/logs/tls.log")"
  # For Kafka's own tools: --command-config.
  printf 'security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=%s\n' "$dir/ca.pem" >"$dir/tools.properties"
}

tls_config() {
  local dir=$DATA/conf/tls
  [ "$LISTENER" = SSL ] || return 0
  echo "ssl.keystore.type=PEM"
  echo "ssl.keystore.location=$dir/broker.pem"
  echo "ssl.truststore.type=PEM"
  echo "ssl.truststore.location=$dir/ca.pem"
}

# The client properties that reach the brokers, as an inline table of TOML; nothing when none are needed.
client_toml() {
  [ -e "$DATA/conf/tls/ca.pem" ] || return 0
  printf 'client = { "security.protocol" = "ssl", "ssl.ca.location" = "%s" }\n' "$DATA/conf/tls/ca.pem"
}

# The control group of a broker that may not use a whole CPU, named after the data folder: cgroup v2, or v1.
cpu_group() {
  local name
  name=brink-local-kafka-$(sha256sum <<<"$DATA" | cut -c1-12)
  if grep -qw cpu /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
    echo "/sys/fs/cgroup/$name"
  else
    echo "/sys/fs/cgroup/cpu/$name"
  fi
}

set_cpu_quota() { # GROUP PERCENT
  if [[ $1 == /sys/fs/cgroup/cpu/* ]]; then
    echo $(($2 * 1000)) >"$1/cpu.cfs_quota_us"
  else
    echo +cpu >/sys/fs/cgroup/cgroup.subtree_control && echo "$(($2 * 1000)) 100000" >"$1/cpu.max"
  fi
}

limit_last_broker() {
  local percent id pid group
  percent=$(setting last_broker_cpu_percent)
  [ -n "$percent" ] || return 0
  while read -r id _ pid _; do [ "$id" != "${P[brokers]}" ] || break; done <"$DATA/nodes"
  group=$(cpu_group)
  if { mkdir -p "$group" && set_cpu_quota "$group" "$percent" && echo "$pid" >"$group/cgroup.procs"; } 2>/dev/null; then
    say "broker $id may use $percent % of a CPU ($group)"
  elif chrt --all-tasks --idle --pid 0 "$pid" 2>/dev/null; then
    say "this machine lets nobody set a CPU quota: broker $id runs only when nothing else wants a CPU (chrt --idle)"
  else
    renice -n 19 -p "$pid" >/dev/null || die "broker $id can be given neither a CPU quota nor a low priority"
    say "this machine lets nobody set a CPU quota: broker $id has the lowest priority (nice 19)"
  fi
}

# After the processes are gone. The group may be another's when the path is: then it is not empty and stays.
drop_cpu_group() { rmdir "$(cpu_group)" 2>/dev/null || true; }
