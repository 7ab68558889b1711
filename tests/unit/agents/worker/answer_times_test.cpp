#include "agents/worker/answer_times.hpp"

#include <doctest/doctest.h>

using namespace brink::worker;

TEST_CASE("answer_times_ms: the mean round trip of each broker that answered, by its id") {
    const auto times = answer_times_ms(R"({"name":"p","brokers":{
        "127.0.0.1:9092/bootstrap":{"nodeid":-1,"rtt":{"avg":900,"cnt":3}},
        "127.0.0.1:9092/1":{"nodeid":1,"rtt":{"min":1,"max":9000,"avg":3250,"cnt":12}},
        "127.0.0.1:9093/2":{"nodeid":2,"rtt":{"avg":0,"cnt":0}},
        "127.0.0.1:9094/3":{"nodeid":3,"rtt":{"avg":812000,"cnt":1}}}})");
    CHECK(times == std::map<int, double>{{1, 3.25}, {3, 812}});
}

TEST_CASE("answer_times_ms: what is not librdkafka's statistics tells nothing") {
    for (const char* text : {"", "{", "[]", "{}", R"({"brokers":7})", R"({"brokers":{"a":3,"b":{}}})",
                             R"({"brokers":{"a":{"nodeid":"1","rtt":{"avg":1,"cnt":1}}}})",
                             R"({"brokers":{"a":{"nodeid":1,"rtt":{"avg":"1","cnt":1}}}})"})
        CHECK(answer_times_ms(text).empty());
}
