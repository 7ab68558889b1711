#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "daemon/metrics/scraper.hpp"

using namespace brink;

namespace {

std::string page(const std::string& name) {
    std::ifstream in{std::string{BRINK_TEST_DATA} + "/metrics/" + name, std::ios::binary};
    REQUIRE(in);
    return {std::istreambuf_iterator<char>{in}, {}};
}

ScrapeReading reading_of(const std::string& text) {
    const auto reading = read_scrape(text);
    if (!reading) FAIL(reading.error().message);
    return *reading;
}

std::string error_of(const std::string& text) {
    const auto reading = read_scrape(text);
    REQUIRE(!reading);
    CHECK(reading.error().code == ErrorCode::bad_reply);
    return reading.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kIdleLine =
    "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count 5e11\n";

}  // namespace

TEST_CASE("read_scrape: finds the idle counter in every dialect that has one") {
    struct Case {
        const char* file;
        double idle_ns;
        double shrinks, expands;
        double bytes_in;
        double under_replicated = 0;
    };
    const Case cases[] = {
        {"no_rules_default_format__agent0.20.0.txt", 7.82682302297E11, 16, 7, 2.2526154127E10},
        {"no_rules_default_format__agent1.0.1.txt", 7.83797801377E11, 16, 7, 2.2526154127E10},
        {"no_rules_lowercased__agent1.0.1.txt", 7.84685809129E11, 16, 7, 2.2526154127E10},
        {"strimzi_jmx__agent0.20.0.txt", 7.72759174506E11, 16, 7, 2.217194293E10},
        {"strimzi_jmx__agent1.0.1.txt", 7.73086976865E11, 16, 7, 2.2295852217E10},
        {"jmx_exporter_kafka-2_0_0__agent0.20.0.txt", 7.71314586512E11, 12, 6, 2.1775135946E10},
        {"jmx_exporter_kafka-kraft-3_0_0__agent1.0.1.txt", 7.72478738259E11, 16, 6, 2.2057600014E10, 4},
        {"bitnami_chart__agent0.20.0.txt", 7.75E11, 16, 7, 2.25E10},
        {"bitnami_chart__agent1.0.1.txt", 7.75153304811E11, 16, 7, 2.2526154127E10},
        {"aws_msk_open_monitoring.txt", 7.8E11, 16, 7, 2.25E10},
        {"confluent_jmx_monitoring_stacks__agent0.20.0.txt", 7.7E11, 16, 7, 2.25E10},
        {"grafana_kafka_mixin__agent0.20.0.txt", 7.7E11, 16, 7, 2.25E10},
        {"grafana_kafka_mixin__agent1.0.1.txt", 7.7E11, 16, 7, 2.25E10},
        {"strimzi_metrics_reporter.txt", 7.7174485718E11, 16, 7, 2.2526154127E10},
        {"strimzi_openmetrics__agent1.0.1.txt", 5.86825741386E11, 0, 0, 1.867267283E10},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string{c.file});
        const auto reading = reading_of(page(c.file));
        REQUIRE(reading.sample.idle_ns);
        CHECK(*reading.sample.idle_ns == doctest::Approx(c.idle_ns).epsilon(0.02));
        CHECK(reading.sample.isr_shrinks == c.shrinks);
        CHECK(reading.sample.isr_expands == c.expands);
        REQUIRE(reading.sample.bytes_in);
        CHECK(*reading.sample.bytes_in == doctest::Approx(c.bytes_in).epsilon(0.02));
        CHECK(reading.sample.under_replicated == c.under_replicated);
        CHECK(reading.signals.contains("messages_in"));
        CHECK(reading.signals.contains("request_queue"));
        CHECK(reading.signals.at("network_idle") > 0.5);
        CHECK(reading.sample.network_idle == reading.signals.at("network_idle"));
        CHECK(!reading.broker_meter);
    }
}

TEST_CASE("read_scrape: says which series a signal came from") {
    const auto reading = reading_of(page("no_rules_lowercased__agent1.0.1.txt"));
    CHECK(reading.series.at("io_idle_ns") ==
          "kafka_server_kafkarequesthandlerpool_count{name=\"RequestHandlerAvgIdlePercent\"}");
    CHECK(reading.series.at("bytes_in") == "kafka_server_brokertopicmetrics_count{name=\"BytesInPerSec\"}");
    CHECK(!reading.signals.contains("offline_partitions"));  // a broker without a controller has none
}

TEST_CASE("read_scrape: the time that produce requests took, where an exporter has their mean or their sum") {
    // A mean over the broker's life, times the count, is the sum of all of them.
    for (const char* file : {"no_rules_default_format__agent1.0.1.txt", "no_rules_lowercased__agent1.0.1.txt",
                             "aws_msk_open_monitoring.txt"}) {
        CAPTURE(std::string{file});
        const auto sample = reading_of(page(file)).sample;
        CHECK(sample.produce_requests == 74551);
        CHECK(sample.produce_ms.value() == doctest::Approx(270'572));
    }
    const auto strimzi = reading_of(page("strimzi_metrics_reporter.txt")).sample;
    CHECK(strimzi.produce_requests == 61240);
    CHECK(strimzi.produce_ms == 222'260);
    // A count without a mean says nothing about time.
    CHECK_FALSE(reading_of(page("bitnami_chart__agent1.0.1.txt")).sample.produce_ms);
}

TEST_CASE("read_scrape: the broker's own meter wins over the aggregate, the controller's is never used") {
    const auto kraft =
        reading_of(page("jmx_exporter_kafka-kraft-3_0_0__kraft_combined_kafka4.2__agent1.0.1.txt"));
    CHECK(kraft.broker_meter);
    CHECK(kraft.sample.idle_ns == 2.4350015819E10);
    CHECK(kraft.sample.offline_partitions == 0);
    const auto confluent =
        reading_of(page("confluent_jmx_monitoring_stacks__kraft_combined_kafka4.2__agent1.0.1.txt"));
    CHECK(confluent.broker_meter);
    CHECK(confluent.sample.idle_ns == 2.8901217462E10);
    const auto no_rules = reading_of(
        "kafka_server_KafkaRequestHandlerPool_Count{name=\"ControllerRequestHandlerAvgIdlePercent\"} 3e10\n"
        "kafka_server_KafkaRequestHandlerPool_Count{name=\"RequestHandlerAvgIdlePercent\"} 2.5e10\n"
        "kafka_server_KafkaRequestHandlerPool_Count{name=\"BrokerRequestHandlerAvgIdlePercent\"} 2e10\n");
    CHECK(no_rules.broker_meter);
    CHECK(no_rules.sample.idle_ns == 2e10);
}

TEST_CASE("read_scrape: a controller's pool alone, or mixed in, is no reading of the broker") {
    CHECK(has(error_of("kafka_server_kafkarequesthandlerpool_count{name="
                       "\"ControllerRequestHandlerAvgIdlePercent\"} 3e10\n"),
              "no idle counter"));
    CHECK(
        has(error_of(
                "kafka_server_kafkarequesthandlerpool_controlplanerequesthandleravgidlepercent_count 3e10\n"),
            "no idle counter"));
    CHECK(has(
        error_of("kafka_server_kafkarequesthandlerpool_controllerrequesthandleravgidlepercent_count 3e10\n" +
                 kIdleLine),
        "mixes the two"));
}

TEST_CASE("read_scrape: rates alone are refused, naming the counter and the exporter's rule") {
    const auto mean = error_of(
        "# TYPE kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent gauge\n"
        "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent 0.78\n");
    CHECK(has(mean, "requesthandleravgidle_percent = 0.78"));
    CHECK(has(mean, "kafka.server<type=KafkaRequestHandlerPool, name=(.+)><>Count"));
}

TEST_CASE("read_scrape: a one-minute average is used where there is nothing better, a lifetime's never") {
    const auto smoothed = reading_of(
        "kafka_server_KafkaRequestHandlerPool_MeanRate{name=\"RequestHandlerAvgIdlePercent\",} 0.78\n"
        "kafka_server_KafkaRequestHandlerPool_OneMinuteRate{name=\"RequestHandlerAvgIdlePercent\",} 0.26\n");
    CHECK(smoothed.sample.idle_gauge == 0.26);
    CHECK(smoothed.sample.idle_gauge_s == 60);
    CHECK(!smoothed.sample.idle_ns);
    const auto helm = reading_of(page("confluent_cp_helm_charts__agent0.20.0.txt"));
    CHECK(helm.sample.idle_gauge == 0.2677152785703891);
    CHECK(helm.sample.isr_shrinks_rate == 0.11906506096776076);
    CHECK(!helm.sample.isr_shrinks);
    CHECK(has(
        error_of(
            "kafka_server_KafkaRequestHandlerPool_MeanRate{name=\"RequestHandlerAvgIdlePercent\",} 0.78\n"),
        "KafkaRequestHandlerPool_MeanRate{name=\"RequestHandlerAvgIdlePercent\"}"));
}

TEST_CASE("read_scrape: Redpanda's shards are busy, not idle") {
    const auto shards = reading_of(page("redpanda_public_metrics.txt"));
    REQUIRE(shards.sample.busy_s.size() == 4);
    CHECK(shards.sample.busy_s[1] == 3902.118843);
    CHECK(shards.sample.bytes_in == 3853481297);
    CHECK(reading_of(page("redpanda_internal_metrics.txt")).sample.idle_gauge == doctest::Approx(0.0712856));
}

TEST_CASE("read_scrape: a share under a counter's name is not nanoseconds, whatever its type") {
    for (const char* value : {"0", "0.97", "1.0", "2.2", "98.3", "NaN", "+Inf", "-5e11"}) {
        for (const char* type : {"counter", "untyped"}) {
            CAPTURE(std::string{value});
            const std::string name =
                "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_total";
            std::string text = "# TYPE " + name + " ";
            text.append(type).append("\n" + name + " ").append(value).append("\n");
            error_of(text);
        }
    }
    const auto text = error_of(
        "# TYPE kafka_server_kafkarequesthandlerpool_count counter\n"
        "kafka_server_kafkarequesthandlerpool_count{name=\"RequestHandlerAvgIdlePercent\"} 0.97\n");
    CHECK(has(text, "0.97 (typed counter) is not a count of nanoseconds"));
}

TEST_CASE("read_scrape: two different idle counters are refused, the same twice is not") {
    const std::string name = "kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_count";
    CHECK(has(error_of(name + "{broker=\"1\"} 5e11\n" + name + "{broker=\"2\"} 6e11\n"), "several brokers"));
    CHECK(has(error_of(name + " 5e11\n" + name + " 6e11\n"), "disagree"));
    CHECK(reading_of(name + " 5e11\n" + name + " 5e11\n").sample.idle_ns == 5e11);
}

TEST_CASE("read_scrape: counters with labels are summed, and one that contradicts itself is unknown") {
    const auto summed = reading_of(kIdleLine +
                                   "kafka_server_replicamanager_isrshrinks_total{pool=\"a\"} 3\n"
                                   "kafka_server_replicamanager_isrshrinks_total{pool=\"b\"} 4\n"
                                   "kafka_server_replicamanager_isrshrinks_total{pool=\"b\"} 4\n"
                                   "kafka_server_replicamanager_isrexpands_total 3\n"
                                   "kafka_server_replicamanager_isrexpands_total 4\n");
    CHECK(summed.sample.isr_shrinks == 7);
    CHECK(has(summed.series.at("isr_shrinks"), "and 1 more"));
    CHECK(!summed.sample.isr_expands);
}

TEST_CASE("read_scrape: bytes over all topics, or the sum where topics are all there is") {
    const std::string bytes = "kafka_server_brokertopicmetrics_bytesin_total";
    CHECK(reading_of(kIdleLine + bytes + "{topic=\"a\"} 5\n" + bytes + " 4\n" + bytes + "{topic=\"b\"} 7\n")
              .sample.bytes_in == 4);
    CHECK(reading_of(kIdleLine + bytes + "{topic=\"a\"} 5\n" + bytes + "{topic=\"b\"} 7\n").sample.bytes_in ==
          12);
    // Bitnami: the sum has a name of its own that comes later in the table than a name with topics.
    CHECK(reading_of(kIdleLine + "kafka_server_brokertopicmetrics_bytesinpersec_count{topic=\"a\"} 5\n" +
                     "kafka_server_brokertopicmetrics_total_bytesinpersec_count 9\n")
              .sample.bytes_in == 9);
}

TEST_CASE("read_scrape: rates, NaN and infinities are left out") {
    const auto reading = reading_of(kIdleLine +
                                    "kafka_server_replicamanager_isrshrinkspersec 0.027\n"
                                    "kafka_server_replicamanager_isrexpandspersec 5.8e-169\n"
                                    "kafka_server_replicamanager_underreplicatedpartitions NaN\n"
                                    "kafka_server_brokertopicmetrics_bytesin_total +Inf\n");
    CHECK(reading.signals.size() == 1);
    CHECK(!reading.sample.isr_shrinks);
    CHECK(!reading.sample.under_replicated);
}

TEST_CASE("read_scrape: gauges of the process, lag and connections") {
    const auto reading = reading_of(
        kIdleLine +
        "process_start_time_seconds 1.796071E9\n"
        "kafka_server_replicafetchermanager_value{name=\"MaxLag\",clientid=\"Replica\"} 12\n"
        "kafka_server_socket_server_metrics_connection_count{listener=\"A\",networkprocessor=\"0\"} 3\n"
        "kafka_server_socket_server_metrics_connection_count{listener=\"A\",networkprocessor=\"1\"} 4\n"
        "kafka_server_brokertopicmetrics_count{name=\"ReplicationBytesInPerSec\"} 77\n");
    CHECK(reading.sample.process_start_s == 1.796071E9);
    CHECK(reading.signals.at("max_lag") == 12);
    CHECK(reading.signals.at("connections") == 7);
    CHECK(reading.signals.at("replication_bytes_in") == 77);
}

TEST_CASE("read_scrape: pages that are not a broker's metrics say what they are") {
    CHECK(has(error_of(page("root_path_html__agent1.0.1.html")), "HTML"));
    CHECK(has(error_of("\r\n <!DOCTYPE html>"), "/metrics"));
    CHECK(has(error_of(""), "empty"));
    CHECK(has(error_of("{\"status\": \"ok\"}"), "begins with \"{\"status"));
    CHECK(has(error_of(page("jmx_target_down__first_scrape__agent0.20.0.txt")), "jmx_scrape_error"));
    for (const char* other :
         {"kafka_exporter_danielqsj.txt", "kminion.txt", "opentelemetry_jmx_via_prometheus_exporter.txt"}) {
        CAPTURE(std::string{other});
        CHECK(has(error_of(page(other)), "Point brink at a JMX exporter in each broker"));
    }
}

TEST_CASE("read_scrape: a combined node before 4.2 reads as it is, for the rest reading to tell") {
    const auto reading = reading_of(page("no_rules__kraft_combined_kafka3.9__agent0.20.0.txt"));
    CHECK(!reading.broker_meter);
}

TEST_CASE("read_scrape: a broker just restarted has small counters, and they are read") {
    const auto reading = reading_of(page("strimzi_after_broker_restart__agent1.0.1.txt"));
    CHECK(reading.sample.idle_ns == 1.0265519806E10);
    CHECK(reading.sample.bytes_in == 0);
}
