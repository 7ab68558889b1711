// Every capture of tests/data/metrics is read right, or refused with the right reason.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "daemon/metrics/signal_reader.hpp"

using namespace brink;

namespace {

std::string page(const std::string& name) {
    std::ifstream in{std::string{BRINK_TEST_DATA} + "/metrics/" + name, std::ios::binary};
    REQUIRE_MESSAGE(in, name);
    return {std::istreambuf_iterator<char>{in}, {}};
}

struct Read {
    const char* file;
    const char* profile;
    PoolMode mode;
    SeriesKind kind;
    double idle;
    double shrinks;  ///< −1: no such signal
};

constexpr auto kNs = SeriesKind::counter_ns;
constexpr auto kBroker = PoolMode::broker;
constexpr auto kCombined = PoolMode::combined;

const Read kRead[] = {
    {"aws_msk_open_monitoring.txt", "no-rules", kBroker, kNs, 7.82682302297E11, 16},
    {"bitnami_chart__agent0.20.0.txt", "bitnami", kBroker, kNs, 7.74461857665E11, 16},
    {"bitnami_chart__agent1.0.1.txt", "bitnami", kBroker, kNs, 7.75153304811E11, 16},
    {"confluent_cp_helm_charts__agent0.20.0.txt", "confluent-cp-helm-charts", kBroker, SeriesKind::gauge_1m,
     0.2677152785703891, 0.11906506096776076},
    {"confluent_jmx_monitoring_stacks__agent0.20.0.txt", "confluent-jmx-monitoring-stacks", kBroker, kNs,
     7.73198352367E11, 16},
    {"confluent_jmx_monitoring_stacks__agent1.0.1.txt", "confluent-jmx-monitoring-stacks", kBroker, kNs,
     7.73428378333E11, 16},
    {"confluent_jmx_monitoring_stacks__kraft_combined_kafka4.2__agent1.0.1.txt",
     "confluent-jmx-monitoring-stacks", kCombined, kNs, 2.8901217462E10, 0},
    {"grafana_kafka_mixin__agent0.20.0.txt", "grafana-kafka-mixin", kBroker, kNs, 7.76158081771E11, 16},
    {"grafana_kafka_mixin__agent1.0.1.txt", "grafana-kafka-mixin", kBroker, kNs, 7.77667560387E11, 16},
    {"jmx_exporter_kafka-2_0_0__agent0.20.0.txt", "jmx-exporter-examples", kBroker, kNs, 7.71314586512E11,
     12},
    {"jmx_exporter_kafka-2_0_0__agent1.0.1.txt", "jmx-exporter-examples", kBroker, kNs, 7.7174485718E11, 16},
    {"jmx_exporter_kafka-kraft-3_0_0__agent0.20.0.txt", "jmx-exporter-examples", kBroker, kNs,
     7.72080781902E11, 16},
    {"jmx_exporter_kafka-kraft-3_0_0__agent1.0.1.txt", "jmx-exporter-examples", kBroker, kNs,
     7.72478738259E11, 16},
    {"jmx_exporter_kafka-kraft-3_0_0__kraft_combined_kafka4.2__agent1.0.1.txt", "jmx-exporter-examples",
     kCombined, kNs, 2.4350015819E10, 0},
    {"no_rules__kraft_combined_kafka3.9__agent0.20.0.txt", "no-rules", kCombined, kNs, 5.7559019463E10, 0},
    {"no_rules_default_format__agent0.20.0.txt", "no-rules", kBroker, kNs, 7.82682302297E11, 16},
    {"no_rules_default_format__agent1.0.1.txt", "no-rules", kBroker, kNs, 7.83183270516E11, 16},
    {"no_rules_lowercased__agent1.0.1.txt", "no-rules", kBroker, kNs, 7.84685809129E11, 16},
    {"parser_torture.txt", "confluent-jmx-monitoring-stacks", kBroker, kNs, 1.66161728092E11, 16},
    {"redpanda_internal_metrics.txt", "redpanda-internal", kBroker, SeriesKind::busy_percent, 92.871440, -1},
    {"redpanda_public_metrics.txt", "redpanda-public", kBroker, SeriesKind::busy_seconds, 3902.118843, -1},
    {"strimzi_after_broker_restart__agent1.0.1.txt", "strimzi-jmx", kBroker, kNs, 1.0265519806E10, 0},
    {"strimzi_jmx__agent0.20.0.txt", "strimzi-jmx", kBroker, kNs, 7.72759174506E11, 16},
    {"strimzi_jmx__agent1.0.1.txt", "strimzi-jmx", kBroker, kNs, 7.73086976865E11, 16},
    {"strimzi_jmx__kraft_combined_kafka3.9__agent1.0.1.txt", "strimzi-jmx", kCombined, kNs, 6.21164019953E11,
     0},
    {"strimzi_metrics_reporter.txt", "strimzi-metrics-reporter", PoolMode::unknown, kNs, 7.7174485718E11, 16},
    {"strimzi_openmetrics__agent1.0.1.txt", "strimzi-jmx", kBroker, kNs, 5.86825741386E11, -2},
    {"healthy/bitnami_chart__agent1.0.1.txt", "bitnami", kBroker, kNs, -1, 0},
    {"healthy/confluent_jmx_monitoring_stacks__agent0.20.0.txt", "confluent-jmx-monitoring-stacks", kBroker,
     kNs, -1, 0},
    {"healthy/no_rules_default_format__agent0.20.0.txt", "no-rules", kBroker, kNs, -1, 0},
    {"healthy/strimzi_jmx__agent1.0.1.txt", "strimzi-jmx", kBroker, kNs, -1, 0},
};

struct Refused {
    const char* file;
    const char* profile;
    const char* because;
};
const Refused kRefused[] = {
    {"kafka_exporter_danielqsj.txt", "kafka-exporter", "kafka_exporter reads Kafka's protocol"},
    {"kminion.txt", "kminion", "KMinion reads Kafka's protocol"},
    {"opentelemetry_jmx_via_prometheus_exporter.txt", "opentelemetry-jmx", "export no idle time"},
    {"root_path_html__agent1.0.1.html", "", "HTML"},
    {"jmx_target_down__first_scrape__agent0.20.0.txt", "", "jmx_scrape_error is not 0"},
};

}  // namespace

TEST_CASE("SignalReader: every capture is read right") {
    const SignalReader reader;
    for (const auto& expected : kRead) {
        CAPTURE(std::string{expected.file});
        const auto seen = reader.recognise(page(expected.file));
        CHECK(seen.refused == "");
        CHECK(seen.profile == expected.profile);
        CHECK(std::string{to_string(seen.mode)} == to_string(expected.mode));
        REQUIRE(seen.signals.contains("io_idle"));
        const auto& idle = seen.signals.at("io_idle");
        CHECK(idle.kind == expected.kind);
        if (expected.idle >= 0) CHECK(idle.value == expected.idle);
        if (expected.shrinks == -1) CHECK(!seen.signals.contains("isr_shrinks"));
        if (expected.shrinks >= 0) CHECK(seen.signals.at("isr_shrinks").value == expected.shrinks);
    }
}

TEST_CASE("SignalReader: what cannot be judged is refused with its reason, and recognised") {
    const SignalReader reader;
    for (const auto& expected : kRefused) {
        CAPTURE(std::string{expected.file});
        const auto seen = reader.recognise(page(expected.file));
        CHECK(seen.refused.find(expected.because) != std::string::npos);
        CHECK(seen.profile == expected.profile);
        CHECK(!seen.signals.contains("io_idle"));
    }
    const auto otel = reader.recognise(page("opentelemetry_jmx_via_prometheus_exporter.txt"));
    CHECK(otel.signals.at("isr_shrinks").value == 16);
    CHECK(otel.signals.at("bytes_in").value == 2.2526154127e+10);
}

TEST_CASE("SignalReader: no capture is left out of these tables") {
    std::set<std::string> listed;
    for (const auto& c : kRead) listed.insert(c.file);
    for (const auto& c : kRefused) listed.insert(c.file);
    const std::filesystem::path root = std::string{BRINK_TEST_DATA} + "/metrics";
    for (const char* folder : {".", "healthy"}) {
        for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
            if (!entry.is_regular_file()) continue;
            const auto name =
                entry.path().lexically_normal().lexically_relative(root.lexically_normal()).string();
            CAPTURE(name);
            CHECK(listed.contains(name));
        }
    }
}

TEST_CASE("SignalReader: Jolokia through Telegraf, and Koperator") {
    const SignalReader reader;
    const auto jolokia = reader.recognise(
        "kafka_server_KafkaRequestHandlerPool_RequestHandlerAvgIdlePercent_OneMinuteRate 0.4\n"
        "kafka_server_KafkaRequestHandlerPool_RequestHandlerAvgIdlePercent_Count 5e11\n"
        "kafka_server_ReplicaManager_IsrShrinksPerSec_Count 3\n"
        "kafka_network_SocketServer_NetworkProcessorAvgIdlePercent_Value 0.9\n"
        "kafka_server_BrokerTopicMetrics_BytesInPerSec_Count 77\n");
    CHECK(jolokia.profile == "jolokia-telegraf");
    CHECK(jolokia.signals.at("io_idle").kind == SeriesKind::counter_ns);
    CHECK(jolokia.signals.at("isr_shrinks").value == 3);
    CHECK(jolokia.signals.at("network_idle").value == 0.9);
    const auto gauge_only = reader.recognise(
        "kafka_server_KafkaRequestHandlerPool_RequestHandlerAvgIdlePercent_OneMinuteRate 0.4\n");
    CHECK(gauge_only.refused == "");
    CHECK(gauge_only.signals.at("io_idle").kind == SeriesKind::gauge_1m);
    CHECK(gauge_only.notes.front().find("120 s") != std::string::npos);
    const auto koperator = reader.recognise(
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_meanrate_percent 0.8\n"
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_oneminuterate_percent 0.3\n"
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count_total 5e11\n"
        "kafka_network_socketserver_networkprocessoravgidle_percent 0.9\n"
        "kafka_server_replicamanager_isrshrinks_total 3\n");
    CHECK(koperator.profile == "koperator");
    CHECK(koperator.signals.at("io_idle").value == 5e11);
}

TEST_CASE("SignalReader: a profile of one's own comes first") {
    const auto own = parse_metrics_profile(
        "name = 'ours'\n"
        "[[series]]\nsignal = 'io_idle'\nname = 'acme_handlers_idle_ns'\nkind = 'counter_ns'\n"
        "[[series]]\nsignal = 'isr_shrinks'\nname = 'acme_isr_shrinks'\nkind = 'counter'\n",
        "ours.toml");
    REQUIRE(own);
    const std::string text = "acme_handlers_idle_ns_total 5e11\nacme_isr_shrinks_total 4\n";
    CHECK(SignalReader{}.recognise(text).refused.find("no idle counter") != std::string::npos);
    const auto seen = SignalReader{{*own}}.recognise(text);
    CHECK(seen.refused == "");
    CHECK(seen.profile == "ours");
    CHECK(seen.signals.at("isr_shrinks").value == 4);
}
