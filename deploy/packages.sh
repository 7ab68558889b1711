# shellcheck shell=bash
# Which Debian 12 packages brink needs, in one place; sourced by tests/run and deploy/quickstart.
# shellcheck disable=SC2034
BRINK_BUILD_PACKAGES=(
  ca-certificates git g++ cmake ninja-build ccache pkg-config
  librdkafka-dev libboost1.81-dev libssl-dev nlohmann-json3-dev libvalijson-dev libtomlplusplus-dev
  libsqlite3-dev libsqlitecpp-dev prometheus-cpp-dev libcurl4-openssl-dev zlib1g-dev libcli11-dev libspdlog-dev
  libfmt-dev libexpected-dev
)
# To run a sweep and draw it, besides what the build brought.
BRINK_QUICKSTART_PACKAGES=(curl jq gnuplot-nox procps)
# Real brokers on this machine; Kafka itself comes from Maven Central.
BRINK_KAFKA_PACKAGES=(openjdk-17-jre-headless maven iproute2 procps openssl)
BRINK_TEST_PACKAGES=(
  doctest-dev librapidcheck-dev
  clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19
  python3 python3-yaml sqlite3 kcat shellcheck prometheus
)

# Installs what is missing of the packages named, and says so. Needs root and apt-get.
brink_install() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "== installing: ${missing[*]}"
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "brink: these packages are missing, and only root on Debian can install them: ${missing[*]}" >&2
    return 1
  fi
  DEBIAN_FRONTEND=noninteractive apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || return 1
  # Debian starts a server as it installs it; the tests start their own, and nobody asked for another.
  case " ${missing[*]} " in
    *" prometheus "*)
      if [ -d /run/systemd/system ]; then systemctl disable --now prometheus; else service prometheus stop; fi \
        >/dev/null 2>&1 || true ;;
  esac
}
