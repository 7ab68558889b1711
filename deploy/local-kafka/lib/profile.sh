# shellcheck shell=bash
# What a profile asks for besides the brokers' own properties: its lines "local-kafka.KEY=VALUE", which the brokers
# never see. Sourced by local-kafka.
#
#   local-kafka.produce_quota_bytes_per_s=N    a produce quota for the clients' principal, ANONYMOUS, on each broker

# setting KEY: prints its value in the profile; nothing when it is not there.
setting() { sed -n "s/^local-kafka\.$1=//p" "$PROFILE_FILE" | tail -n 1; }

check_settings() {
  local key known=' produce_quota_bytes_per_s '
  while read -r key; do
    [[ $known == *" $key "* ]] || die "profile ${P[profile]}: no setting 'local-kafka.$key' (have:$known)"
  done < <(sed -n 's/^local-kafka\.\([^=]*\)=.*/\1/p' "$PROFILE_FILE")
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
