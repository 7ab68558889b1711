#include "daemon/metrics/name_set.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace brink;

namespace {

/// What find() promises, said the slow way.
std::string plain(std::string name) {
    for (auto& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    if (name.ends_with("_total")) name.resize(name.size() - 6);
    return name;
}

}  // namespace

TEST_CASE("NameSet: finds names in any case, with and without a final _total") {
    const NameSet set{
        {"kafka_server_ReplicaManager_IsrShrinks_total", "up", "kafka_server_replicamanager_isrexpands"}};
    CHECK(set.find("kafka_server_replicamanager_isrshrinks") == 0);
    CHECK(set.find("kafka_server_ReplicaManager_IsrShrinks") == 0);
    CHECK(set.find("kafka_server_replicamanager_isrshrinks_total") == 0);
    CHECK(set.find("KAFKA_SERVER_REPLICAMANAGER_ISRSHRINKS_TOTAL") == 0);
    CHECK(set.find("UP") == 1);
    CHECK(set.find("up_total") == 1);
    CHECK(set.contains("kafka_server_replicamanager_isrexpands"));
    CHECK(set.names()[0] == "kafka_server_replicamanager_isrshrinks");
}

TEST_CASE("NameSet: nothing else is found, however alike") {
    const NameSet set{{"kafka_requesthandleravgidle_count", "up", "a_total_total", ""}};
    for (const char* other :
         {"", "u", "p", "upp", "up_", "up_tota", "up_total_total", "_total", "up total", "\x55\x10",
          "kafka_requesthandleravgidle_coun", "xafka_requesthandleravgidle_count",
          "brokerkafka_requesthandleravgidle_count", "kafka_controllerhandlravgidle_count", "a", "a_total",
          "kafka\x7frequesthandleravgidle_count",
          "kafka_requesthandleravgidle\x7f"
          "count"}) {
        CAPTURE(std::string{other});
        CHECK(set.find(other) == -1);
    }
    CHECK(set.find("a_total_total") == 2);
    CHECK(NameSet{{}}.find("up") == -1);
}

TEST_CASE("NameSet: the first of two that are the same is found") {
    const NameSet set{{"a", "b", "A_total", "b"}};
    CHECK(set.find("a") == 0);
    CHECK(set.find("b") == 1);
}

TEST_CASE("NameSet: agrees with a comparison one by one") {
    std::mt19937 random{11};  // NOLINT: the same names every time
    const auto name = [&] {
        static constexpr std::string_view kFew = "ab_AB:1";
        std::string text;
        for (auto length = random() % 14; length > 0; --length) text += kFew[random() % kFew.size()];
        if (random() % 4 == 0) text += random() % 2 == 0 ? "_total" : "_TOTAL";
        return text;
    };
    std::vector<std::string> names;
    for (int i = 0; i < 500; ++i) names.push_back(name());
    const NameSet set{names};
    std::size_t found = 0;
    for (int i = 0; i < 5'000; ++i) {
        const auto asked = i < 500 ? names[static_cast<std::size_t>(i)] : name();
        int expected = -1;
        for (std::size_t at = 0; at < names.size() && expected < 0; ++at) {
            if (!plain(asked).empty() && plain(names[at]) == plain(asked)) expected = static_cast<int>(at);
        }
        CAPTURE(asked);
        CHECK(set.find(asked) == expected);
        found += expected >= 0 ? 1 : 0;
    }
    CHECK(found > 600);
    CHECK(found < 4'500);
}
