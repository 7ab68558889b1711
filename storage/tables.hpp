#pragma once
#include "storage/rows.hpp"

/// Which member of a row is which column, said once: statements are made from it, bound by it and read back
/// by it. `key` finds a row, `fixed` is written once, `changing` is what an update replaces.
namespace brink::storage {

template <class Row>
struct Table;

template <>
struct Table<SweepRow> {
    static constexpr const char* kName = "sweeps";
    template <class R, class Visit>
    static void key(R& row, Visit&& column) {
        column("id", row.id);
    }
    template <class R, class Visit>
    static void fixed(R& row, Visit&& column) {
        column("cluster", row.cluster);
        column("name", row.name);
        column("spec_json", row.spec_json);
        column("epoch", row.epoch);
        column("created_at_ms", row.created_at_ms);
    }
    template <class R, class Visit>
    static void changing(R& row, Visit&& column) {
        column("state", row.state);
        column("state_reason", row.state_reason);
        column("topic", row.topic);
        column("fingerprint_json", row.fingerprint_json);
        column("rest_json", row.rest_json);
        column("started_at_ms", row.started_at_ms);
        column("finished_at_ms", row.finished_at_ms);
    }
};

template <>
struct Table<PointRow> {
    static constexpr const char* kName = "points";
    template <class R, class Visit>
    static void key(R& row, Visit&& column) {
        column("sweep_id", row.sweep_id);
        column("point", row.point);
    }
    template <class R, class Visit>
    static void fixed(R&, Visit&&) {}
    template <class R, class Visit>
    static void changing(R& row, Visit&& column) {
        column("message_bytes", row.message_bytes);
        column("factors_json", row.factors_json);
        column("state", row.state);
        column("state_reason", row.state_reason);
        column("rate_each", row.rate_each);
        column("lower_producers", row.lower_producers);
        column("upper_producers", row.upper_producers);
        column("lower_msgs_per_s", row.lower_msgs_per_s);
        column("upper_msgs_per_s", row.upper_msgs_per_s);
        column("measured_msgs_per_s", row.measured_msgs_per_s);
        column("measured_mb_per_s", row.measured_mb_per_s);
        column("wire_mb_per_s", row.wire_mb_per_s);
        column("broker_in_mb_per_s", row.broker_in_mb_per_s);
        column("mb_per_s_per_broker", row.mb_per_s_per_broker);
        column("p50_ms", row.p50_ms);
        column("p99_ms", row.p99_ms);
        column("worst_idle", row.worst_idle);
        column("isr_churn", row.isr_churn);
        column("limited_by", row.limited_by);
        column("evidence", row.evidence);
        column("flags", row.flags);
        column("first_crossings_json", row.first_crossings_json);
        column("trials", row.trials);
        column("started_at_ms", row.started_at_ms);
        column("finished_at_ms", row.finished_at_ms);
    }
};

template <>
struct Table<TrialRow> {
    static constexpr const char* kName = "trials";
    template <class R, class Visit>
    static void key(R& row, Visit&& column) {
        column("sweep_id", row.sweep_id);
        column("trial", row.trial);
    }
    template <class R, class Visit>
    static void fixed(R&, Visit&&) {}
    template <class R, class Visit>
    static void changing(R& row, Visit&& column) {
        column("point", row.point);
        column("purpose", row.purpose);
        column("state", row.state);
        column("producers", row.producers);
        column("rate_each", row.rate_each);
        column("message_bytes", row.message_bytes);
        column("chosen_because", row.chosen_because);
        column("verdict", row.verdict);
        column("published_verdict", row.published_verdict);
        column("limited_by", row.limited_by);
        column("verdict_json", row.verdict_json);
        column("offered_msgs_per_s", row.offered_msgs_per_s);
        column("acked_msgs_per_s", row.acked_msgs_per_s);
        column("worst_idle", row.worst_idle);
        column("isr_churn", row.isr_churn);
        column("p50_ms", row.p50_ms);
        column("p99_ms", row.p99_ms);
        column("broker_in_mb_per_s", row.broker_in_mb_per_s);
        column("started_at_ms", row.started_at_ms);
        column("finished_at_ms", row.finished_at_ms);
    }
};

template <>
struct Table<SampleRow> {
    static constexpr const char* kName = "samples";
    template <class R, class Visit>
    static void key(R& row, Visit&& column) {
        column("sweep_id", row.sweep_id);
        column("trial", row.trial);
    }
    template <class R, class Visit>
    static void fixed(R& row, Visit&& column) {
        column("broker_id", row.broker_id);
        column("at_ms", row.at_ms);
        column("at_s", row.at_s);
        column("scrape_ms", row.scrape_ms);
        column("in_window", row.in_window);
        column("error", row.error);
        column("signals_json", row.signals_json);
    }
    template <class R, class Visit>
    static void changing(R&, Visit&&) {}
};

template <>
struct Table<AgentReportRow> {
    static constexpr const char* kName = "agent_reports";
    template <class R, class Visit>
    static void key(R& row, Visit&& column) {
        column("sweep_id", row.sweep_id);
        column("trial", row.trial);
    }
    template <class R, class Visit>
    static void fixed(R& row, Visit&& column) {
        column("agent", row.agent);
        column("report_json", row.report_json);
    }
    template <class R, class Visit>
    static void changing(R&, Visit&&) {}
};

template <>
struct Table<EventRow> {
    static constexpr const char* kName = "events";
    template <class R, class Visit>
    static void key(R& row, Visit&& column) {
        column("seq", row.seq);
    }
    template <class R, class Visit>
    static void fixed(R& row, Visit&& column) {
        column("sweep_id", row.sweep_id);
        column("at_ms", row.at_ms);
        column("kind", row.kind);
        column("body_json", row.body_json);
    }
    template <class R, class Visit>
    static void changing(R&, Visit&&) {}
};

}  // namespace brink::storage
