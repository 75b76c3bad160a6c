#include "user.h"

#include <algorithm>
#include <span>
#include <utility>

#include "net/resp.h"

namespace lockc::sim {

// ---- users of lockc

void User::later(Duration within, Step step) {
  later(within, [self = shared_from_this(), step] { (self.get()->*step)(); });
}

void User::later(Duration within, Task task) {
  world_.in(world_.between(0ms, within),
            [self = shared_from_this(), task = std::move(task)] { self->process_.deliver(task); });
}

void User::acquire() {
  if (habits_.calm) return;
  static constexpr Millis kTtls[] = {50ms, 200ms, 500ms, 1s, 3s, 10s};
  static constexpr Millis kWaits[] = {0ms, 0ms, 20ms, 300ms, 2s, 6s, kForever, kForever};
  ttl_ = std::max(world_.pick(kTtls), habits_.shortest_ttl);
  AcquireRequest request{
      .key = *Key::make("", "key-" + std::to_string(world_.below(habits_.keys))),
      .ttl = *Ttl::make(ttl_.count()),
      .renew = world_.chance(70),
      .fair = world_.chance(20),
      .spin = world_.chance(5),
      .fenced = fenced_ = !world_.chance(20),
      .wait = world_.pick(kWaits),
      .max_hold = world_.chance(5) ? ttl_ / 2 : 0ms,
  };
  const bool waits = request.wait != 0ms;
  const Duration allowed = waits ? Duration(request.wait) : habits_.answer_within;
  const std::string what =
      "acquire " + request.key.text() + " ttl " + std::to_string(ttl_.count()) + " wait " +
      std::to_string(request.wait.count()) + (request.renew ? " renewed" : "") +
      (request.fair ? " fair" : "") + (request.fenced ? "" : " unfenced");
  auto sink = judge_.expect(process_, what, allowed, [self = shared_from_this()](Completion told) {
    self->on_acquired(std::move(told));
  });
  waiter_ =
      process_.registry().acquire(std::move(request), Owed(sink, Completion::Kind::kAcquire, 1));
  if (waits && world_.chance(15)) later(2s, &User::cancel);
}

// Inside the loop, so nothing is asked for here.
void User::on_acquired(Completion completion) {
  if (completion.grant == nullptr) return later(habits_.pause_between, &User::acquire);
  grant_ = std::move(completion.grant);
  judge_.granted(process_, grant_, fenced_);
  later(Duration(ttl_) / 2, &User::hold);
}

void User::cancel() {
  if (const auto waiter = waiter_.lock()) {
    process_.registry().cancel(waiter, Error{Status::kCancelled, {}});
  }
}

void User::hold() {
  if (habits_.calm || world_.chance(60)) return release();
  if (world_.chance(50)) return extend();
  later(Duration(ttl_) * 2, &User::release);  // perhaps beyond its end
}

void User::extend() {
  const auto ttl = *Ttl::make((ttl_ * (1 + static_cast<int64_t>(world_.below(3)))).count());
  auto sink = judge_.expect(process_, "extend " + grant_->owner(), habits_.answer_within,
                            [self = shared_from_this()](const Completion&) {
                              self->later(Duration(self->ttl_) * 2, &User::release);
                            });
  process_.registry().extend(grant_, ttl, Owed(sink, Completion::Kind::kExtend, 2));
}

// One in five lets go without waiting for the answer.
void User::release() {
  waiter_.reset();
  const auto grant = std::exchange(grant_, nullptr);
  if (world_.chance(20)) {
    world_.trace(process_.name(), "drops", grant->owner());
    process_.registry().release(grant, Owed());
    return later(habits_.pause_between, &User::acquire);
  }
  auto sink = judge_.expect(process_, "release " + grant->owner(), habits_.answer_within,
                            [self = shared_from_this()](const Completion&) {
                              self->later(self->habits_.pause_between, &User::acquire);
                            });
  process_.registry().release(grant, Owed(sink, Completion::Kind::kRelease, 3));
}

// ---- the plain client

void PlainClient::act() {
  if (habits_.calm) return server_.gone(session_);
  if (session_ == 0 && server_.is_up()) {
    session_ = server_.accept({[this](const std::string& bytes) {
                                 world_.in(world_.between(0ms, 2ms), [this, bytes] {
                                   if (on_reply_) std::exchange(on_reply_, nullptr)(bytes);
                                 });
                               },
                               [this] { session_ = 0; }});
  }
  if (session_ != 0) acquire();
  world_.in(world_.between(50ms, 2s), [this] { act(); });
}

void PlainClient::acquire() {
  const std::string key = "key-" + std::to_string(world_.below(habits_.keys));
  const Millis ttl = std::chrono::floor<Millis>(world_.between(50ms, 500ms));
  const TimePoint until = world_.now() + Duration(ttl) * 99 / 100 - 2ms;
  const std::string owner = "plain:" + std::to_string(++acquires_);
  on_reply_ = [this, key, owner, until](const std::string& reply) {
    if (reply != "+OK\r\n" || world_.now() >= until) return;
    const auto released = judge_.plain_granted(key, owner, until);
    if (world_.chance(50)) return;
    world_.in(world_.between(0ms, 40ms), [this, key, owner, released] {
      *released = true;
      release(key, owner);
    });
  };
  send({"SET", key, owner, "NX", "PX", std::to_string(ttl.count())});
}

void PlainClient::release(const std::string& key, const std::string& owner) {
  if (session_ == 0) return;
  on_reply_ = nullptr;
  send({"EVAL",
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end", "1",
        key, owner});
}

void PlainClient::send(const Arguments& request) {
  const std::vector<std::string_view> views(request.begin(), request.end());
  std::string bytes;
  resp::append_request(bytes, views);
  world_.in(world_.between(0ms, 2ms),
            [this, session = session_, bytes] { server_.receive(session, bytes); });
}

}  // namespace lockc::sim
