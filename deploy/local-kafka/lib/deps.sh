# shellcheck shell=bash
# What a cluster needs that this tree does not hold: Java, and the jars. Sourced by local-kafka.

# apt_install PACKAGE…: only for root on Debian; the caller says what is missing otherwise.
apt_install() {
  [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] && command -v apt-get >/dev/null || return 1
  say "installing $* with apt-get"
  { DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } </dev/null >&2
}

java_major() {
  local v
  v=$("$1" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1) || true
  echo "${v:-0}"
}

# Prints the java to use.
find_java() {
  local java=${JAVA_HOME:+$JAVA_HOME/bin/java}
  [ -n "$java" ] && [ -x "$java" ] || java=$(command -v java || true)
  if [ -z "$java" ] || [ "$(java_major "$java")" -lt 17 ]; then
    apt_install openjdk-17-jre-headless || apt_install default-jre-headless ||
      die "needs Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless)"
    java=$(command -v java || true)
    [ "$(java_major "${java:-false}")" -ge 17 ] || die "Java 17 was installed, but 'java' on the PATH is older: set JAVA_HOME"
  fi
  echo "$java"
}

jar_cache() { echo "${BRINK_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/brink}/kafka"; }

# download_jars VERSION DIR: the jars as Maven Central has them, unverified.
download_jars() {
  command -v mvn >/dev/null || apt_install maven || die "needs Maven for the jars of Kafka $1 (Debian: apt-get install maven)"
  say "fetching Kafka $1 from Maven Central"
  # In the background and waited for: a signal is then acted on at once, not after the download.
  mvn -B -ntp -q -f "$HERE/pom.xml" dependency:copy-dependencies "-Dkafka.version=$1" -DincludeScope=runtime \
    "-DoutputDirectory=$2/libs" >"$2/mvn.log" 2>&1 </dev/null &
  HELPER=$!
  wait "$HELPER" || { HELPER=; die "Maven could not fetch Kafka $1: $(grep -m 1 ERROR "$2/mvn.log" || tail -n 1 "$2/mvn.log")"; }
  HELPER=
  mv "$2"/libs/jmx_prometheus_javaagent-*.jar "$2/" # not for the class path: it brings its own copies of libraries
}

# jars_match DIR PINS: exactly the pinned jars, each with its pinned content. Prints what does not match.
jars_match() {
  local have want
  have=$(cd "$1" && find . -name '*.jar' | sort) || return 1
  want=$(sed 's/^[0-9a-f]*  //' "$2" | sort)
  [ "$have" = "$want" ] || { comm -3 <(echo "$have") <(echo "$want") | tr -d '\t' | head -n 3 | tr '\n' ' '; return 1; }
  (cd "$1" && sha256sum --quiet --strict -c "$2") 2>/dev/null || return 1
}

# Prints the file with a version's sums.
need_pins() {
  [ -e "$HERE/jars-$1.sha256" ] ||
    die "Kafka $1 is not pinned here (pinned: $(pinned_versions)); 'local-kafka pin $1' makes jars-$1.sha256"
  echo "$HERE/jars-$1.sha256"
}

# ensure_jars VERSION: sets JARS, the folder that holds them. A version is visible in the cache only when complete
# and verified: it is assembled beside its place and moved there in one step.
ensure_jars() {
  local version=$1 pins cache why
  pins=$(need_pins "$version")
  cache=$(jar_cache)
  JARS=$cache/$version
  jars_match "$JARS" "$pins" >/dev/null 2>&1 && return
  mkdir -p "$cache"
  SCRATCH=$(mktemp -d "$cache/.$version.XXXXXX")
  download_jars "$version" "$SCRATCH"
  why=$(jars_match "$SCRATCH" "$pins") || die "the jars of Kafka $version are not the pinned ones ($pins): $why"
  # Moving onto a full folder fails: then either another 'up' was faster, or what is there failed the check above.
  if ! mv -T "$SCRATCH" "$JARS" 2>/dev/null && ! jars_match "$JARS" "$pins" >/dev/null; then
    rm -rf "$JARS"
    mv -T "$SCRATCH" "$JARS" || die "cannot write $JARS"
  fi
  rm -rf "$SCRATCH"
  SCRATCH=
}

pinned_versions() { local f; for f in "$HERE"/jars-*.sha256; do f=${f##*/jars-}; printf '%s ' "${f%.sha256}"; done; }

pin_jars() {
  SCRATCH=$(mktemp -d)
  find_java >/dev/null
  download_jars "$1" "$SCRATCH"
  (cd "$SCRATCH" && find . -name '*.jar' | sort | xargs sha256sum) >"$HERE/jars-$1.sha256"
  say "wrote $HERE/jars-$1.sha256: $(wc -l <"$HERE/jars-$1.sha256") jars"
}
