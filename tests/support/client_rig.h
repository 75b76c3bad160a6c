// A whole client below the ABI, without threads and sockets: its rooms are put together as Client
// does it, on a manual clock and a network in memory. The test is the server.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/log.h"
#include "fake_transport.h"
#include "lock/registry.h"
#include "lock/scripts.h"
#include "lock/store.h"
#include "lock/watchdog.h"
#include "manual_clock.h"
#include "net/loop.h"
#include "redis/node.h"
#include "redis/wake_channel.h"
#include "resp_text.h"

namespace lockc::test {

using namespace std::chrono_literals;

inline const std::string kClient = "CLIENT-CLIENT-CLIENT-1";
inline const auto kClientName = std::make_shared<const std::string>(kClient);

// Keeps what it is told.
class Recorder final : public Sink {
 public:
  void complete(Completion completion) override { told.push_back(std::move(completion)); }
  bool is_told() const { return !told.empty(); }
  Status status() const { return told.at(0).outcome.status; }
  const std::shared_ptr<Grant>& grant() const { return told.at(0).grant; }

  std::vector<Completion> told;
};

// One operation of the test's and what became of it.
struct Operation {
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  std::shared_ptr<Waiter> waiter{};

  bool is_told() const { return recorder->is_told(); }
  Status status() const { return recorder->status(); }
  const std::shared_ptr<Grant>& grant() const { return recorder->grant(); }
  uint64_t token() const { return grant()->token().value; }
};

// A request about a lock that waits for its answer on link: a script call, or the plain SET of an
// unfenced lock, whose script is nullptr.
struct ScriptCall {
  std::shared_ptr<FakeLink> link{};
  const Script* script = nullptr;
  bool by_sha = false;
  std::vector<std::string> keys{};
  std::vector<std::string> arguments{};

  const std::string& owner() const { return arguments.at(script == &scripts::renew ? 1 : 0); }
};

inline std::optional<ScriptCall> read_call(const std::shared_ptr<FakeLink>& link,
                                           const Request& request) {
  static constexpr std::array kScripts = {
      &scripts::acquire, &scripts::release,     &scripts::requeue,
      &scripts::renew,   &scripts::drop,        &scripts::inspect,
      &scripts::probe,   &scripts::record_read, &scripts::record_write};
  if (request.at(0) == "SET") {
    return ScriptCall{
        .link = link, .keys = {request.at(1)}, .arguments = {request.begin() + 2, request.end()}};
  }
  if (request.at(0) != "EVAL" && request.at(0) != "EVALSHA") return std::nullopt;
  ScriptCall call{.link = link, .by_sha = request[0] == "EVALSHA"};
  for (const Script* script : kScripts) {
    if (request.at(1) == (call.by_sha ? script->sha1 : script->text)) call.script = script;
  }
  if (call.script == nullptr) throw std::logic_error("a script that lockc does not have");
  const auto keys_end = request.begin() + 3 + std::stoi(request.at(2));
  call.keys.assign(request.begin() + 3, keys_end);
  call.arguments.assign(keys_end, request.end());
  return call;
}

struct ClientRig {
  struct Settings {
    Registry::Settings registry{.client = kClientName};
    Watchdog::Settings watchdog{};
    Connection::Settings connection{1s, 1s};
  };

  ClientRig() : ClientRig(Settings()) {}
  explicit ClientRig(const Settings& settings)
      : config{Endpoint(), settings.connection, {kClient, "lockc:" + kClient + ":test"}},
        loop(clock, net, Random(7)),
        node(loop, config, log, [this](bool changed) { registry.on_reconnected(changed); }),
        store(node, 60s),
        watchdog(loop, store, settings.watchdog),
        wake(loop, config, log,
             {[this] { registry.on_channel_confirmed(); }, [this] { registry.on_channel_lost(); },
              [this](const WakeMessage& message) { registry.on_message(message); },
              [this](std::string_view key) { registry.on_key_gone(key); }}),
        registry(loop, store, wake, watchdog, log, settings.registry) {
    net.set_loop(loop);
  }

  // ---- the caller's side

  template <class Task>
  void turn(Task task) {
    loop.begin_turn();
    task();
    loop.end_turn();
  }
  // Time passes, and every timer fires when it is due.
  void advance(Duration by) {
    const TimePoint end = clock.now() + by;
    for (TimePoint next = loop.timers().next(); next <= end; next = loop.timers().next()) {
      clock.set(std::max(next, clock.now()));
      turn([] {});
    }
    jump(end - clock.now());
  }
  // The process was stopped for so long.
  void jump(Duration by) {
    clock.advance(by);
    turn([] {});
  }
  AcquireRequest request(const std::string& key = "k", Millis ttl = 30s) const {
    return {.key = *Key::make("", key), .ttl = *Ttl::make(ttl.count())};
  }
  AcquireRequest waiting(Millis wait, const std::string& key = "k", Millis ttl = 30s) const {
    AcquireRequest made = request(key, ttl);
    made.wait = wait;
    return made;
  }
  Operation acquire(AcquireRequest wanted) {
    Operation operation;
    turn([&] {
      operation.waiter = registry.acquire(std::move(wanted),
                                          Owed(operation.recorder, Completion::Kind::kAcquire, 1));
    });
    return operation;
  }
  Operation release(const std::shared_ptr<Grant>& grant) {
    Operation operation;
    turn([&] { registry.release(grant, Owed(operation.recorder, Completion::Kind::kRelease, 2)); });
    return operation;
  }
  Status release_nowait(const std::shared_ptr<Grant>& grant) {
    Status known = Status::kInternal;
    turn([&] { known = registry.release_nowait(grant); });
    return known;
  }
  Operation extend(const std::shared_ptr<Grant>& grant, Millis ttl) {
    Operation operation;
    turn([&] {
      registry.extend(grant, *Ttl::make(ttl.count()),
                      Owed(operation.recorder, Completion::Kind::kExtend, 3));
    });
    return operation;
  }
  // Memory ran out, somewhere in a turn.
  void begin_anew() {
    registry.abandon();
    watchdog.abandon();
    wake.abandon();
    node.abandon();
    loop.abandon();
  }
  void cancel(const Operation& operation) {
    turn([&] { registry.cancel(operation.waiter, Error{Status::kCancelled, {}}); });
  }
  // Acquired at one try; the script's answer says these tokens.
  Operation held(AcquireRequest wanted, uint64_t first = 10, int64_t count = 1) {
    Operation operation = acquire(std::move(wanted));
    answer(granted(first, count));
    return operation;
  }
  // A waiter in the server's queue, over a confirmed wake channel.
  Operation queued_up(AcquireRequest wanted, const Queued& with = {}) {
    Operation operation = acquire(std::move(wanted));
    settle();
    if (!wake.is_confirmed()) answer(busy());
    answer(queued(with));
    return operation;
  }

  // ---- the server's side

  std::string run_id = "run-1";
  bool may_publish = true;

  // Opens what was connected and answers all that is no script call.
  void settle() {
    for (size_t i = 0; i < net.links.size(); ++i) {
      const auto link = net.links[i];
      if (!link->is_open() && !link->is_dropped()) link->open();
      while (link->is_open() && !link->unanswered.empty()) {
        const Request request = link->unanswered.front();
        const auto call = read_call(link, request);
        if (call && call->script != &scripts::probe) break;
        link->answer(call ? integer(may_publish ? 1 : 0) : reply_to(request, i + 1));
      }
    }
  }
  // The script calls that wait for an answer, oldest first on each link.
  std::vector<ScriptCall> calls() const {
    std::vector<ScriptCall> all;
    for (const auto& link : net.links) {
      if (!link->is_open()) continue;
      for (const Request& request : link->unanswered) {
        const auto call = read_call(link, request);
        if (call && call->script != &scripts::probe) all.push_back(*call);
      }
    }
    return all;
  }
  // The only one.
  ScriptCall call() {
    settle();
    const auto all = calls();
    if (all.size() != 1) throw std::logic_error(std::to_string(all.size()) + " calls, not 1");
    return all[0];
  }
  // Answers the oldest script call, and returns it.
  ScriptCall answer(const std::string& reply) {
    settle();
    const auto all = calls();
    if (all.empty()) throw std::logic_error("no call to answer");
    all[0].link->answer(reply);
    settle();
    return all[0];
  }
  std::shared_ptr<FakeLink> command_link() const { return open_link(false); }
  std::shared_ptr<FakeLink> wake_link() const { return open_link(true); }
  void message(const std::string& owner, uint64_t first, int64_t count,
               const std::string& key = "k") {
    wake_link()->push(array(
        {bulk("message"), bulk("lockc:wake:" + kClient),
         bulk(owner + " " + std::to_string(first) + " " + std::to_string(count) + " " + key)}));
    settle();
  }

  ManualClock clock;
  FakeTransport net;
  Node::Config config;
  Log log{0};
  Loop loop;
  Node node;
  Store store;
  Watchdog watchdog;
  WakeChannel wake;
  Registry registry;
  std::set<std::string> channels;  // subscribed to now

 private:
  std::string reply_to(const Request& request, size_t client_id) {
    const std::string& name = request.at(0);
    if (name == "INFO") return bulk("redis_version:7.0.15\r\nrun_id:" + run_id + "\r\n");
    if (name == "CLIENT" && request.at(1) == "ID") return integer(static_cast<int64_t>(client_id));
    if (name == "SUBSCRIBE") {
      subscribed_.push_back(client_id);
      channels.insert(request.at(1));
      return array({bulk("subscribe"), bulk(request.at(1)), integer(1)});
    }
    if (name == "UNSUBSCRIBE") {
      channels.erase(request.at(1));
      return array({bulk("unsubscribe"), bulk(request.at(1)), integer(1)});
    }
    if (name == "PING" && std::ranges::count(subscribed_, client_id) > 0) {
      return array({bulk("pong"), bulk("")});
    }
    return status("OK");
  }
  std::shared_ptr<FakeLink> open_link(bool subscribed) const {
    for (size_t i = net.links.size(); i > 0; --i) {
      const bool is_wake = std::ranges::count(subscribed_, i) > 0;
      if (net.links[i - 1]->is_open() && is_wake == subscribed) return net.links[i - 1];
    }
    throw std::logic_error("no such link");
  }

  std::vector<size_t> subscribed_;  // client ids of the links with a wake channel
};

}  // namespace lockc::test
