// Random schedules of calls, answers, messages, breaks and delays. Whatever happens: each operation
// is told exactly once, no handle goes to two callers, and a closed client keeps nothing.
#include <gtest/gtest.h>

#include <map>

#include "../support/client_rig.h"

namespace lockc {
namespace {

using namespace test;

class Schedule {
 public:
  explicit Schedule(uint64_t seed) : random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    finish();
  }

 private:
  uint64_t below(uint64_t bound) { return random_.next() % bound; }

  void step() {
    switch (below(12)) {
      case 0:
      case 1:
        return acquire();
      case 2:
        return give_back();
      case 3:
        return cancel();
      case 4:
        return send_message();
      case 5:
        return break_a_link();
      case 6:
        return rig_.settle();
      case 7:
        return rig_.advance(Millis(static_cast<int64_t>(below(uint64_t{1} << below(13)))));
      case 8:
        return rig_.jump(Millis(static_cast<int64_t>(below(uint64_t{1} << below(15)))));
      default:
        return answer_a_call();
    }
  }

  void acquire() {
    AcquireRequest request = rig_.request(std::string(1, static_cast<char>('a' + below(3))),
                                          below(2) == 0 ? 30s : 300ms);
    const uint64_t wait = below(4);
    request.wait = wait == 0   ? 0ms
                   : wait == 1 ? kForever
                               : Millis(1 + static_cast<int64_t>(below(5000)));
    request.renew = below(4) != 0;
    request.fair = below(5) == 0;
    request.spin = !request.fair && below(5) == 0;
    request.fenced = below(5) != 0;
    request.owner = below(4) == 0 ? 1 + below(2) : 0;
    request.max_hold = below(5) == 0 ? 500ms : 0ms;
    request.events = events_;
    operations_.push_back(rig_.acquire(request));
  }
  void give_back() {
    if (operations_.empty()) return;
    const Operation& one = operations_[below(operations_.size())];
    if (!one.is_told() || one.grant() == nullptr) return;
    const std::shared_ptr<Grant> grant = one.grant();
    if (below(5) == 0) return static_cast<void>(rig_.release_nowait(grant));
    operations_.push_back(below(4) == 0 ? rig_.extend(grant, 1s) : rig_.release(grant));
  }
  void cancel() {
    if (operations_.empty()) return;
    const Operation& one = operations_[below(operations_.size())];
    if (one.waiter != nullptr) rig_.cancel(one);
  }
  void send_message() {
    if (owners_.empty()) return;
    for (const auto& link : rig_.net.links) {
      if (!link->is_open() || !link->unanswered.empty()) continue;
      const auto& [owner, key] = owners_[below(owners_.size())];
      const uint64_t first = below(3) == 0 ? 0 : token_ - std::min(token_, below(20)) + 10;
      if (rig_.wake.is_confirmed()) rig_.message(owner, first, first == 0 ? 0 : 1, key);
      return;
    }
  }
  void break_a_link() {
    const auto& links = rig_.net.links;
    if (links.empty()) return;
    const auto link = links[links.size() - 1 - below(std::min<size_t>(links.size(), 3))];
    if (!link->is_dropped()) link->close();
    if (below(8) == 0) rig_.run_id = "run-" + std::to_string(below(3));
  }
  void answer_a_call() {
    rig_.settle();
    const auto calls = rig_.calls();
    if (calls.empty()) return;
    const ScriptCall& call = calls[0];
    owners_.emplace_back(call.owner(), call.keys.at(0));
    call.link->answer(below(6) == 0 ? trouble() : reply_to(call));
  }
  std::string trouble() {
    static constexpr std::array kErrors = {"NOSCRIPT x", "OOM x", "LOADING x",
                                           "NOPERM x",   "ERR x", "WRONGTYPE x"};
    return below(8) == 0 ? array({bulk("nonsense")}) : error(kErrors[below(kErrors.size())]);
  }
  std::string reply_to(const ScriptCall& call) {
    if (call.script == nullptr) return below(2) == 0 ? status("OK") : "$-1\r\n";
    if (call.script == &scripts::acquire) return acquired(call.arguments.at(1) == "1");
    if (call.script == &scripts::requeue) return requeued(below(8) != 0, acquired(true));
    if (call.script == &scripts::release) return released(below(8) != 0);
    if (call.script == &scripts::drop) return integer(1);
    std::vector<bool> ours;
    for (size_t i = 0; i < call.keys.size(); ++i) ours.push_back(below(8) != 0);
    return renewed(ours);
  }
  std::string acquired(bool queue) {
    if (below(2) == 0) return granted(token_ += 10, 8);
    const auto pttl = static_cast<int64_t>(below(10'000)) - 1;
    if (!queue) return busy(pttl);
    return queued({.pttl = pttl,
                   .position = static_cast<int64_t>(below(4)),
                   .mark = token_,
                   .lockc = below(4) != 0});
  }

  // The client is closed, and the server answers what it still asks.
  void finish() {
    int idle = 0;
    rig_.turn([&] { rig_.registry.close([&] { ++idle; }); });
    for (int i = 0; i < 200 && idle == 0; ++i) {
      rig_.settle();
      while (!rig_.calls().empty()) rig_.answer(reply_to(rig_.calls()[0]));
      rig_.advance(50ms);
    }
    EXPECT_EQ(idle, 1);
    EXPECT_EQ(rig_.registry.entries(), 0U);
    rig_.turn([&] {
      rig_.node.close();
      rig_.wake.close();
    });
    std::map<const Grant*, int> grants;
    for (const Operation& one : operations_) {
      ASSERT_EQ(one.recorder->told.size(), 1U);
      if (one.grant() == nullptr) continue;
      EXPECT_EQ(++grants[one.grant().get()], 1) << "one handle to two callers";
      EXPECT_EQ(one.grant()->remaining(rig_.clock.now()), Duration::zero());
    }
  }

  Random random_;
  ClientRig rig_;
  std::vector<Operation> operations_;
  std::vector<std::pair<std::string, std::string>> owners_;  // seen at the server, with their keys
  std::shared_ptr<Recorder> events_ = std::make_shared<Recorder>();
  uint64_t token_ = 1'000;
};

TEST(RandomSchedules, WhateverHappens_EachOperationIsToldExactlyOnce) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Schedule(seed).run(150);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace lockc
