// Searches the protocol as it is, which must hold, and without each of its rules, which must fail.
//
//   model [-v]     -v: prints the shortest way to each failure
#include <cstdio>
#include <cstring>

#include "protocol.h"

namespace model {
namespace {

constexpr size_t kLimit = 10'000'000;

class Runs {
 public:
  explicit Runs(bool traces) : traces_(traces) {}

  void holds(const char* name, const Bounds& bounds) {
    const auto result = search({}, bounds);
    const bool right = result.broken == nullptr && result.complete;
    report(name, result, right);
  }

  void fails(const char* name, bool Rules::*rule, const Bounds& bounds = {}) {
    Rules rules;
    rules.*rule = false;
    const auto result = search(rules, bounds);
    report(name, result, result.broken != nullptr);
  }

  int end() const {
    std::printf("%d passed, %d failed\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  using Result = Search<State>::Result;

  static Result search(const Rules& rules, const Bounds& bounds) {
    const Protocol protocol(rules, bounds);
    return Search<State>().run(
        protocol.first(),
        [&](const State& from, const Protocol::Emit& emit) { protocol.next(from, emit); }, kLimit);
  }

  void report(const char* name, const Result& result, bool right) {
    ++(right ? passed_ : failed_);
    const char* found = result.broken != nullptr ? result.broken
                        : result.complete        ? "holds"
                                                 : "nothing found within the limit";
    std::printf("%-4s %-55s %s (%zu states", right ? "ok" : "FAIL", name, found, result.states);
    if (!result.trace.empty()) std::printf(", %zu steps", result.trace.size());
    std::printf(")\n");
    if (traces_ || !right) {
      for (const std::string& step : result.trace) std::printf("       %s\n", step.c_str());
    }
    std::fflush(stdout);
  }

  const bool traces_;
  int passed_ = 0;
  int failed_ = 0;
};

int run(bool traces) {
  Runs runs(traces);
  runs.fails("without: a message counts only above the mark", &Rules::mark);
  runs.fails("without: validity from the last poll answered", &Rules::from_answered);
  runs.fails("without: validity from before the request", &Rules::from_sent);
  runs.fails("without: a message for what is held is ignored", &Rules::held_ignores);
  runs.fails("without: the first grant is the grant", &Rules::first_grant);
  runs.fails("without: an acquire sent again draws anew", &Rules::new_tokens);
  runs.fails("without: a hand-over stays in its block", &Rules::block_ends, {.users = 3});
  runs.fails("without: a value being released is dead", &Rules::dead);
  runs.fails("without: one order per value", &Rules::one_order);
  runs.fails("without: a release is sent until answered", &Rules::resent);
  runs.fails("without: release compares", &Rules::compare);
  runs.fails("without: cancel grants a free key", &Rules::cancel_grants);
  runs.fails("without: a free key goes to the queue first", &Rules::queue_first);
  runs.fails("without: the message comes last", &Rules::message_last);
  runs.holds("two users and two values per client", {});
  runs.holds("one user, two values, an acquire executes late", {.users = 1, .late = true});
  return runs.end();
}

}  // namespace
}  // namespace model

int main(int argc, char** argv) { return model::run(argc > 1 && std::strcmp(argv[1], "-v") == 0); }
