// Parts of the core by themselves, without a server: what one acquisition costs on the client's
// side.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/types.h"
#include "lock/scripts.h"
#include "net/resp.h"
#include "net/timers.h"

namespace {

using namespace lockc;

const Ttl kTtl = *Ttl::make(30000);

void owner_value(benchmark::State& state) {
  const std::string client = random_name();
  uint64_t seq = 0;
  for (auto _ : state) benchmark::DoNotOptimize(Owner(client, ++seq, kTtl, 8));
}
BENCHMARK(owner_value);

void format_acquire(benchmark::State& state) {
  const std::string owner = Owner(random_name(), 4711, kTtl, 8).text();
  const std::array<std::string_view, 12> request{"EVALSHA",
                                                 scripts::acquire.sha1,
                                                 "4",
                                                 "orders:42",
                                                 "lockc:{orders:42}:fence:orders:42",
                                                 "lockc:{orders:42}:queue:orders:42",
                                                 "lockc:{orders:42}:seen:orders:42",
                                                 owner,
                                                 "1",
                                                 "0",
                                                 "60000",
                                                 "0"};
  std::string out;
  for (auto _ : state) {
    out.clear();
    resp::append_request(out, request);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(out.size()) * state.iterations());
}
BENCHMARK(format_acquire);

// The answer to an acquire, `range` of them in one read.
void parse_grants(benchmark::State& state) {
  std::string bytes;
  for (int64_t i = 0; i < state.range(0); i++)
    bytes += "*3\r\n:1\r\n$16\r\n1700000000000000\r\n:8\r\n";
  resp::Parser parser;
  for (auto _ : state) {
    if (!parser.feed(bytes)) state.SkipWithError("feed");
    for (int64_t i = 0; i < state.range(0); i++) benchmark::DoNotOptimize(parser.next());
  }
  state.SetItemsProcessed(state.range(0) * state.iterations());
}
BENCHMARK(parse_grants)->Arg(1)->Arg(100);

constexpr Millis kRound{10000};

// Arms itself again, a round later, when it fires.
struct RoundTimer : Timer {
  RoundTimer(Timers& timers, const TimePoint& time)
      : Timer(timers, [this] { arm(now + kRound); }), now(time) {}
  const TimePoint& now;
};

// Moves one timer while `range` others are armed: a lease renewed among many.
void rearm_timer(benchmark::State& state) {
  TimePoint now{};
  Timers timers(now);
  std::vector<std::unique_ptr<RoundTimer>> others;
  for (int64_t i = 0; i < state.range(0); i++) {
    others.push_back(std::make_unique<RoundTimer>(timers, now));
    others.back()->arm(now + Millis(i));
  }
  RoundTimer timer(timers, now);
  int64_t step = 0;
  for (auto _ : state) timer.arm(now + Millis(10000 + ++step % 1000));
}
BENCHMARK(rearm_timer)->Arg(0)->Arg(100000);

// One millisecond of the wheel, in which one of 10,000 timers fires and arms itself again.
void run_timers(benchmark::State& state) {
  TimePoint now{};
  Timers timers(now);
  std::vector<std::unique_ptr<RoundTimer>> all;
  for (int64_t i = 0; i < kRound.count(); i++) {
    all.push_back(std::make_unique<RoundTimer>(timers, now));
    all.back()->arm(now + Millis(i + 1));
  }
  for (auto _ : state) timers.run(now += Millis(1));
}
BENCHMARK(run_timers);

}  // namespace
