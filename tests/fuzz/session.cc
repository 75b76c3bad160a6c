#include "session.h"

#include <algorithm>
#include <variant>

#include "check.h"
#include "lock/inspect.h"

namespace lockc::fuzz {

using namespace test;

namespace {

// Names an owner value.
bool is_about_lock(const ScriptCall& call) {
  return call.script != &scripts::inspect && call.script != &scripts::record_read &&
         call.script != &scripts::record_write;
}

// For what is answered by a value or a refusal.
template <class T>
Then<T> telling(const Operation& one) {
  return [recorder = one.recorder](const Result<T>& answer) {
    recorder->complete({.outcome = answer ? Error{} : answer.error(), .grant = nullptr});
  };
}

}  // namespace

void Session::run() {
  constexpr int kMostSteps = 200;
  for (int i = 0; i < kMostSteps && !input_.empty(); ++i) step(input_.letter());
  finish();
}

void Session::step(char letter) {
  switch (letter) {
    case 'a':
    case 'w':
    case 'W':
    case 's':
    case 'f':
    case 'u':
    case '2':
      return ask(letter);
    case 'r':
    case 'R':
    case 'e':
    case 'c': {
      const Operation* one = pick();
      if (one == nullptr) return;
      if (letter == 'c' && one->waiter != nullptr) return rig_.cancel(*one);
      if (letter == 'c' || !one->is_told() || one->grant() == nullptr) return;
      const std::shared_ptr<Grant> grant = one->grant();
      if (letter == 'R') {
        rig_.release_nowait(grant);
        return;
      }
      add() = letter == 'r' ? rig_.release(grant) : rig_.extend(grant, 1s);
      return;
    }
    case 'i':
      return inspect();
    case 'k':
      return connect();
    case 'v':
      return read_record();
    case 'V':
      return write_record();
    case 'o':
      return rig_.settle();
    case '+':
    case '?':
    case '-':
      return answer(letter);
    case 'y':
      return answer_all();
    case '=':
      return push_bytes();
    case 'm':
      return wake(token_ += 10);
    case 'M':
      return wake(0);
    case 'x':
      if (const auto link = pick_link(); link != nullptr && !link->is_dropped()) link->close();
      return;
    case 'X':
      rig_.run_id += "'";
      return;
    case 't':
      return rig_.advance(Millis(int64_t{1} << input_.digit()));
    case 'j':
      return rig_.jump(Millis(int64_t{1} << input_.digit()));
    default:
      return;
  }
}

// ---- the caller's side

void Session::ask(char letter) {
  AcquireRequest request = rig_.request("k", letter == 's' ? 300ms : 30s);
  if (letter != 'a' && letter != '2') request.wait = letter == 'W' ? kForever : 2s;
  request.spin = letter == 's';
  request.fair = letter == 'f';
  request.fenced = letter != 'u';
  request.owner = letter == '2' ? 2 : 0;
  request.renew = letter != 'f';
  request.events = losses_;
  request.events_tag = operations_.size();
  add() = rig_.acquire(request);
  bounded_.back() = letter != 'W';
  fenced_.back() = letter != 'u';
}

void Session::inspect() {
  const auto then = telling<std::string>(add());
  rig_.turn([&] { inspect_key(rig_.node, rig_.store, rig_.request().key, then); });
}

void Session::connect() {
  const auto then = telling<std::monostate>(add());
  rig_.turn([&] { rig_.node.connect(then); });
}

void Session::read_record() {
  const auto then = telling<Record>(add());
  rig_.turn([&] { records_.read(rig_.request().key, then); });
}

void Session::write_record() {
  const auto then = telling<uint64_t>(add());
  rig_.turn([&] { records_.write(rig_.request().key, {.value = "v", .token = {token_}}, then); });
}

Operation& Session::add() {
  bounded_.push_back(true);
  fenced_.push_back(true);
  return operations_.emplace_back();
}

const Operation* Session::pick() {
  const unsigned n = input_.digit();
  return operations_.empty() ? nullptr : &operations_[n % operations_.size()];
}

// ---- the server's side

std::shared_ptr<FakeLink> Session::pick_link() {
  const unsigned n = input_.digit();
  const auto& links = rig_.net.links;
  return links.empty() ? nullptr : links[links.size() - 1 - n % links.size()];
}

void Session::answer(char letter) {
  rig_.settle();
  const auto calls = rig_.calls();
  if (calls.empty()) return;
  if (is_about_lock(calls[0])) owners_.emplace_back(calls[0].owner(), "k");
  calls[0].link->answer(reply_to(calls[0], letter));
}

void Session::answer_all() {
  constexpr int kMost = 20;
  for (int i = 0; i < kMost && !rig_.calls().empty(); ++i) answer('+');
}

std::string Session::reply_to(const ScriptCall& call, char letter) {
  const bool yes = letter == '+';
  const auto acquired = [&](bool queue) {
    if (yes) return granted(token_ += 10, 8);
    return queue || letter == '?' ? queued({.mark = token_}) : busy();
  };
  if (call.script == nullptr) return yes ? status("OK") : "$-1\r\n";
  if (call.script == &scripts::acquire) return acquired(call.arguments.at(1) == "1");
  if (call.script == &scripts::requeue) return requeued(letter != '-', acquired(true));
  if (call.script == &scripts::release) return released(yes);
  if (call.script == &scripts::renew) return renewed(std::vector<bool>(call.keys.size(), yes));
  if (call.script == &scripts::drop) return integer(yes ? 1 : 0);
  if (call.script == &scripts::record_read) return array({bulk("7"), bulk("5"), bulk("value")});
  if (call.script == &scripts::record_write) {
    return array({integer(yes ? 1 : letter == '?' ? 2 : 3), bulk("8")});
  }
  return array(
      {bulk("string"), bulk("lc1:" + kClient + ":1:x:30000:8"), integer(9), "$-1\r\n", integer(5)});
}

void Session::push_bytes() {
  const auto link = pick_link();
  std::string_view bytes = input_.until('`');
  if (link == nullptr || link->is_dropped()) return;
  if (!link->is_open()) link->open();
  if (!link->unanswered.empty()) link->unanswered.pop_front();
  for (Input parts(bytes); !parts.empty();) link->push(parts.until('|'));
}

void Session::wake(uint64_t first) {
  const unsigned n = input_.digit();
  if (owners_.empty() || !rig_.wake.is_confirmed()) return;
  const auto& [owner, key] = owners_[n % owners_.size()];
  rig_.message(owner, first, first == 0 ? 0 : 1, key);
}

// ---- the end

void Session::finish() {
  rig_.advance(10s);
  for (size_t i = 0; i < operations_.size(); ++i) {
    must(!bounded_[i] || operations_[i].is_told(), "what is bounded ends without any server");
  }
  rig_.turn([&] { rig_.registry.close([] {}); });
  rig_.advance(1s);
  rig_.turn([&] {
    rig_.node.close();
    rig_.wake.close();
  });
  must(rig_.registry.entries() == 0, "a closed client keeps nothing");
  check_operations();
  check_losses();
}

void Session::check_operations() {
  std::set<const Grant*> grants;
  for (size_t i = 0; i < operations_.size(); ++i) {
    const Operation& one = operations_[i];
    must(one.recorder->told.size() == 1, "each operation is told exactly once");
    const Completion& told = one.recorder->told[0];
    must_be_tellable(told.outcome.status, told.outcome.message);
    if (told.grant == nullptr) continue;
    must(told.outcome.status == Status::kOk, "only success brings a grant");
    must(grants.insert(told.grant.get()).second, "a grant has one holder");
    must((told.grant->token().value != 0) == fenced_[i], "a fenced grant has a token");
    must(told.grant->remaining(rig_.clock.now()) == Duration::zero(), "a closed client holds none");
  }
}

void Session::check_losses() {
  std::set<uint64_t> told;
  for (const Completion& loss : losses_->told) {
    must(told.insert(loss.tag).second, "a loss is told once");
    const Operation& lost = operations_.at(loss.tag);
    must(lost.is_told() && lost.grant() != nullptr, "only a grant can be lost");
    must(lost.grant()->loss() != LossReason::kNone, "a lost grant says why");
  }
}

}  // namespace lockc::fuzz
