/// Not a test: what ThreadSanitizer needs to run the others. librdkafka makes its threads with C11's
/// `thrd_create`, which the sanitizer does not intercept: the first allocation in such a thread crashes.
/// These stand in front of glibc's and go through the pthread calls that it does intercept.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <memory>

namespace {

struct Start {
    thrd_start_t function;
    void* argument;
};

void* run(void* given) {
    const std::unique_ptr<Start> start(static_cast<Start*>(given));
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(start->function(start->argument)));
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
    auto start = std::make_unique<Start>(Start{function, argument});
    if (pthread_create(thread, nullptr, &run, start.get()) != 0) return thrd_error;
    static_cast<void>(start.release());  // `run` owns it now
    return thrd_success;
}

int thrd_join(thrd_t thread, int* result) {
    void* returned = nullptr;
    if (pthread_join(thread, &returned) != 0) return thrd_error;
    if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
    return thrd_success;
}

int thrd_detach(thrd_t thread) { return pthread_detach(thread) == 0 ? thrd_success : thrd_error; }

}  // extern "C"
#endif
#endif
