// Looks at every state that can be reached, nearest first, and returns the way to the first bad
// one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace model {

// S: plain bytes without padding. Next: calls emit(state, says) for each successor of a state,
// where says() tells what happened; it is only called for the states of a trace.
template <class S>
class Search {
 public:
  using Says = std::function<std::string()>;
  using Emit = std::function<void(const S&, const Says&)>;
  using Next = std::function<void(const S&, const Emit&)>;

  struct Result {
    const char* broken = nullptr;  // what the bad state breaks; nullptr: there is none
    bool complete = true;          // every reachable state was looked at
    size_t states = 0;
    std::vector<std::string> trace;
  };

  Result run(const S& first, const Next& next, size_t limit) {
    Result result;
    add(first, 0);
    for (size_t at = 0; at < states_.size() && result.broken == nullptr; ++at) {
      const S from = states_[at];
      next(from, [&](const S& to, const Says&) {
        if (result.broken != nullptr || !add(to, at) || to.broken() == nullptr) return;
        result.broken = to.broken();
        result.trace = trace(states_.size() - 1, next);
      });
      if (states_.size() > limit) {
        result.complete = false;
        break;
      }
    }
    result.states = states_.size();
    return result;
  }

 private:
  // False: it was known.
  bool add(const S& state, size_t from) {
    if (2 * (states_.size() + 1) > table_.size()) grow();
    size_t slot = hash(state) & (table_.size() - 1);
    for (; table_[slot] != 0; slot = (slot + 1) & (table_.size() - 1)) {
      if (same(states_[table_[slot] - 1], state)) return false;
    }
    states_.push_back(state);
    from_.push_back(static_cast<uint32_t>(from));
    table_[slot] = static_cast<uint32_t>(states_.size());
    return true;
  }

  void grow() {
    table_.assign(std::max<size_t>(1024, 2 * table_.size()), 0);
    for (size_t i = 0; i < states_.size(); ++i) {
      size_t slot = hash(states_[i]) & (table_.size() - 1);
      while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = static_cast<uint32_t>(i + 1);
    }
  }

  std::vector<std::string> trace(size_t to, const Next& next) {
    std::vector<std::string> steps;
    for (; to != 0; to = from_[to]) {
      bool found = false;
      next(states_[from_[to]], [&](const S& state, const Says& says) {
        if (found || !same(state, states_[to])) return;
        found = true;
        steps.push_back(says());
      });
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  static bool same(const S& a, const S& b) { return std::memcmp(&a, &b, sizeof(S)) == 0; }

  static uint64_t hash(const S& state) {
    static_assert(std::has_unique_object_representations_v<S>);
    uint64_t sum = 1469598103934665603U;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&state);
    for (size_t i = 0; i < sizeof(S); ++i) sum = (sum ^ bytes[i]) * 1099511628211U;
    return sum ^ (sum >> 29U);
  }

  std::vector<S> states_;
  std::vector<uint32_t> from_;
  std::vector<uint32_t> table_;
};

}  // namespace model
