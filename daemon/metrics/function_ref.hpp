#pragma once
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace brink {

template <class Signature>
class FunctionRef;

/// Refers to something callable that outlives it: one indirect call, no allocation, where std::function would
/// be paid for on every line. Binds only to named objects, so that a lambda written into the call's argument
/// list does not compile instead of dangling.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
  public:
    template <class Callable>
        requires(!std::is_same_v<std::remove_cv_t<Callable>, FunctionRef> && std::is_object_v<Callable> &&
                 std::is_invocable_r_v<Result, Callable&, Arguments...>)
    FunctionRef(Callable& callable)  // NOLINT(google-explicit-constructor): stands in for the callable
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* object, Arguments... arguments) -> Result {
              return std::invoke(*static_cast<Callable*>(object), std::forward<Arguments>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const {
        return call_(object_, std::forward<Arguments>(arguments)...);
    }

  private:
    void* object_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace brink
