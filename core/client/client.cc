#include "client/client.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "base/random.h"
#include "lock/inspect.h"

namespace lockc {
namespace {

std::string default_name() {
  std::string host(256, '\0');
  if (::gethostname(host.data(), host.size() - 1) != 0) host.assign("host");
  host.resize(host.find('\0'));
  for (char& c : host) {
    if (c <= ' ' || c > '~') c = '_';
  }
  return host + "/" + std::to_string(::getpid());
}

Node::Config configure(const ClientOptions& options) {
  const std::string client = random_name();
  const std::string& given = options.client_name;
  const std::string name = "lockc:" + client + ":" + (given.empty() ? default_name() : given);
  return {options.endpoint, {options.connect_timeout, options.reply_timeout}, {client, name}};
}

Registry::Settings registry_settings(const ClientOptions& options, const std::string& client) {
  return {std::make_shared<const std::string>(client),
          options.handover_max,
          options.handover_time,
          options.spin_min,
          options.spin_max,
          options.max_waiters};
}

Error closed_error() { return {Status::kClosed, "the client is closed"}; }

Error tag_error(uint64_t tag) {
  return {Status::kInvalid,
          "tag " + std::to_string(tag) + " names an acquire that is not completed yet"};
}

// A sink on the caller's stack: it waits there until told, so nobody owns it.
std::shared_ptr<Sink> on_stack(Slot& slot) { return {std::shared_ptr<void>(), &slot}; }

// Ends a wait whose answer has not come in time.
class TimeLimit {
 public:
  TimeLimit(Loop& loop, Millis wait, std::weak_ptr<Owed> owed, Error outcome)
      : owed_(std::move(owed)),
        outcome_(std::move(outcome)),
        timer_(loop.timers(), [this] { end(); }) {
    timer_.arm(after(loop.now(), wait));
  }

 private:
  void end() {
    if (const auto untold = owed_.lock()) untold->tell(std::move(outcome_));
  }

  const std::weak_ptr<Owed> owed_;
  Error outcome_;
  Timer timer_;
};

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      log_(options_.log_fd),
      config_(configure(options_)),
      loop_(clock_, reactor_, Random()),
      node_(loop_, config_, log_, [this](bool changed) { registry_.on_reconnected(changed); }),
      store_(node_, options_.fence_retention),
      watchdog_(loop_, store_, {options_.renew_every, options_.renew_batch}),
      wake_(loop_, config_, log_,
            {[this] { registry_.on_channel_confirmed(); }, [this] { registry_.on_channel_lost(); },
             [this](const WakeMessage& message) { registry_.on_message(message); },
             [this](std::string_view key) { registry_.on_key_gone(key); }}),
      registry_(loop_, store_, wake_, watchdog_, log_,
                registry_settings(options_, config_.identity.client)),
      records_(node_),
      runner_(clock_, reactor_, loop_, node_, wake_, [this] { begin_anew(); }) {}

Client::~Client() { close(); }

Result<std::shared_ptr<Client>> Client::open(ClientOptions options) {
  const auto checked = options.check();
  if (!checked) return checked.error();
  std::shared_ptr<Client> client(new Client(std::move(options)));
  client->runner_.start();
  return client;
}

// The rooms are left as a new client's. What the server still has of all that was asked and held
// ends with its ttl.
void Client::begin_anew() noexcept {
  log_.warn("out of memory: locks are given up, and the client begins anew");
  registry_.abandon();
  watchdog_.abandon();
  wake_.abandon();
  node_.abandon();
  loop_.abandon();
}

// ---- blocking

Error Client::wait_for(Completion::Kind kind, FunctionRef<void(Owed)> submit) {
  if (is_closed()) return closed_error();
  Slot slot(runner_.sleepers());
  runner_.call(slot, [&] { submit(Owed(on_stack(slot), kind, 0)); });
  return slot.take().outcome;
}

Completion Client::acquire(AcquireRequest request) {
  if (is_closed()) return {0, Completion::Kind::kAcquire, closed_error(), nullptr};
  Slot slot(runner_.sleepers());
  runner_.call(slot, [&] {
    Owed owed(on_stack(slot), Completion::Kind::kAcquire, 0);
    slot.waiter = registry_.acquire(std::move(request), std::move(owed));
  });
  return slot.take();
}

Error Client::extend(const std::shared_ptr<Grant>& grant, Ttl ttl) {
  return wait_for(Completion::Kind::kExtend,
                  [&](Owed owed) { registry_.extend(grant, ttl, std::move(owed)); });
}

Error Client::release(const std::shared_ptr<Grant>& grant) {
  return wait_for(Completion::Kind::kRelease,
                  [&](Owed owed) { registry_.release(grant, std::move(owed)); });
}

Error Client::release_nowait(const std::shared_ptr<Grant>& grant) {
  if (is_closed()) return closed_error();
  Status known = Status::kNoMemory;
  runner_.send([&] { known = registry_.release_nowait(grant); });
  return {known, {}};
}

Error Client::connect(Millis timeout) {
  std::optional<TimeLimit> limit;
  Error late{Status::kUnreachable,
             "no connection within " + std::to_string(timeout.count()) + " ms"};
  const Error outcome = wait_for(Completion::Kind::kAcquire, [&](Owed owed) {
    auto shared = std::make_shared<Owed>(std::move(owed));
    limit.emplace(loop_, timeout, shared, std::move(late));
    node_.connect([shared](const Result<std::monostate>& result) {
      shared->tell(result ? Error{} : result.error());
    });
  });
  if (limit) runner_.inside([&] { limit.reset(); });
  return outcome;
}

template <class T>
Result<T> Client::ask(FunctionRef<void(Then<T>)> submit) {
  T answer{};
  Error outcome = wait_for(Completion::Kind::kAcquire, [&](Owed owed) {
    submit([&answer, shared = std::make_shared<Owed>(std::move(owed))](Result<T> told) {
      if (told) answer = std::move(*told);
      shared->tell(told ? Error{} : std::move(told.error()));
    });
  });
  if (outcome.status != Status::kOk) return outcome;
  return answer;
}

Result<std::string> Client::inspect(const Key& key) {
  return ask<std::string>([&](auto then) { inspect_key(node_, store_, key, std::move(then)); });
}

Result<Record> Client::read(const Key& key) {
  return ask<Record>([&](auto then) { records_.read(key, std::move(then)); });
}

Result<uint64_t> Client::write(const Key& key, RecordWrite write) {
  return ask<uint64_t>([&](auto then) { records_.write(key, std::move(write), std::move(then)); });
}

// ---- by completion queue

Completion Client::acquire(AcquireRequest request, const std::shared_ptr<CompletionQueue>& queue,
                           uint64_t tag, bool at_once) {
  if (is_closed()) return {tag, Completion::Kind::kAcquire, closed_error(), nullptr};
  Completion pending{tag, Completion::Kind::kAcquire, {Status::kPending, {}}, nullptr};
  if (!at_once) {
    Owed owed(queue, Completion::Kind::kAcquire, tag);
    runner_.inside([&] {
      if (queue->find(tag) != nullptr) {
        pending.outcome = tag_error(tag);
        return owed.waive();
      }
      auto waiter = registry_.acquire(std::move(request), std::move(owed));
      if (waiter != nullptr && waiter->owed) queue->remember(tag, waiter);
    });
    return pending;
  }
  Slot slot(runner_.sleepers());
  const auto submit = [&] {
    Owed owed(on_stack(slot), Completion::Kind::kAcquire, tag);
    if (queue->find(tag) != nullptr) return owed.tell(tag_error(tag));
    slot.waiter = registry_.acquire(std::move(request), std::move(owed));
  };
  const auto otherwise = [&] {
    // Another thread may have come to wait under this tag meanwhile.
    if (!queue->remember(tag, slot.waiter)) return registry_.cancel(slot.waiter, tag_error(tag));
    slot.waiter->owed.redirect(queue);
  };
  return runner_.call_once(slot, submit, otherwise) ? slot.take() : pending;
}

void Client::extend(const std::shared_ptr<Grant>& grant, Ttl ttl, Owed owed) {
  if (is_closed()) return owed.tell(closed_error());
  runner_.inside([&] { registry_.extend(grant, ttl, std::move(owed)); });
}

void Client::release(const std::shared_ptr<Grant>& grant, Owed owed) {
  if (is_closed()) return owed.tell(closed_error());
  runner_.inside([&] { registry_.release(grant, std::move(owed)); });
}

void Client::cancel(CompletionQueue& queue, uint64_t tag) {
  runner_.inside([&] {
    if (const auto waiter = queue.find(tag))
      registry_.cancel(waiter, Error{Status::kCancelled, {}});
  });
}

void Client::close(CompletionQueue& queue) {
  runner_.inside([&] {
    for (const auto& waiter : queue.outstanding())
      registry_.cancel(waiter, Error{Status::kCancelled, {}});
    for (const Completion& left : queue.close()) {
      if (left.grant != nullptr) registry_.release(left.grant, Owed());
    }
  });
}

// ---- the end

void Client::close() {
  if (closed_.exchange(true)) return;
  Slot slot(runner_.sleepers());
  std::optional<TimeLimit> limit;
  runner_.call(slot, [&] {
    Owed idle(on_stack(slot), Completion::Kind::kRelease, 0);
    auto owed = std::make_shared<Owed>(std::move(idle));
    limit.emplace(loop_, options_.reply_timeout, owed, Error{Status::kOk, {}});
    registry_.close([owed] { owed->tell(Status::kOk); });
  });
  // Whoever still waits for an answer is told now that there will be none.
  runner_.inside([&] {
    limit.reset();
    node_.close();
    wake_.close();
  });
  runner_.stop();
}

}  // namespace lockc
