#include "net/connection.h"

#include <utility>

namespace lockc {
namespace {

// Requests that the server is given ahead of its answers, so that it need not wait for its clients
// while they take these in. Measured: with fewer, one of the two sides is often idle.
constexpr size_t kAhead = 8;

}  // namespace

Connection::Connection(Loop& loop, const Settings& settings, Events events)
    : loop_(loop),
      settings_(settings),
      events_(std::move(events)),
      timer_(loop.timers(), [this] { check_time(); }),
      opened_by_(loop.now() + settings.connect_timeout) {}

Connection::~Connection() = default;

std::shared_ptr<Connection> Connection::open(Loop& loop, const Endpoint& endpoint,
                                             const Settings& settings, Events events) {
  std::shared_ptr<Connection> connection(new Connection(loop, settings, std::move(events)));
  connection->name_ = endpoint.name();
  connection->stream_ = loop.transport().connect(endpoint, *connection);
  connection->timer_.arm(connection->opened_by_);
  return connection;
}

uint64_t Connection::send(std::span<const std::string_view> arguments, OnReply on_reply) {
  const uint64_t number = next_number_++;
  if (ready_) {
    enqueue(arguments, std::move(on_reply));
  } else {
    Held& held = held_.emplace_back(Held{number, {}, std::move(on_reply)});
    resp::append_request(held.request, arguments);
  }
  return number;
}

bool Connection::withdraw(uint64_t number) {
  return std::erase_if(held_, [number](const Held& held) { return held.number == number; }) > 0;
}

void Connection::send_first(std::span<const std::string_view> arguments, OnReply on_reply) {
  enqueue(arguments, std::move(on_reply));
}

void Connection::enqueue(std::span<const std::string_view> arguments, OnReply on_reply) {
  const uint64_t begins_at = out_begins_at_ + out_.size();
  resp::append_request(out_, arguments);
  if (!on_push_) pending_.push_back({std::move(on_reply), loop_.now(), begins_at});
  mark_dirty();
}

void Connection::ready() {
  ready_ = true;
  timer_.cancel();  // it watched the connecting
  for (Held& held : std::exchange(held_, {})) {
    const uint64_t begins_at = out_begins_at_ + out_.size();
    out_ += held.request;
    pending_.push_back({std::move(held.on_reply), loop_.now(), begins_at});
  }
  mark_dirty();
}

void Connection::mark_dirty() {
  if (dirty_) return;
  dirty_ = true;
  loop_.mark_dirty(weak_from_this());
}

void Connection::flush() {
  dirty_ = false;
  if (closed_ || !open_) return;
  if (!out_.empty() && !waits_for_reader() && !left_to_writer()) {
    const size_t taken = stream_->write(out_);
    out_begins_at_ += taken;
    out_.erase(0, taken);
  }
  if (!borrowed_ && (!pending_.empty() || on_push_)) stream_->set_reading(true);
  // One timer for all requests: it looks at the oldest one when it fires.
  if (!pending_.empty() && !timer_.armed()) {
    timer_.arm(pending_.front().sent + settings_.reply_timeout);
  }
}

// True: a caller that writes now will come back for what has been collected.
bool Connection::left_to_writer() {
  Writer seen = Writer::kWrites;
  return writer_.compare_exchange_strong(seen, Writer::kWritesMore) || seen == Writer::kWritesMore;
}

// Under load requests collect behind unanswered ones: whoever reads the replies sends them, many in
// one write, each time it has read. It is there soon, for the server has some requests of its.
bool Connection::waits_for_reader() const {
  return borrowed_ && pending_.size() > kAhead && pending_[kAhead].begins_at <= out_begins_at_;
}

Connection::Unsent Connection::take_unsent(bool reads) {
  if (closed_ || !open_ || out_.empty()) return {};
  if ((!reads && waits_for_reader()) || left_to_writer()) return {};
  Unsent unsent{stream_->socket(), {}};
  if (unsent.socket == nullptr) return {};
  writer_ = Writer::kWrites;
  out_begins_at_ += out_.size();
  unsent.bytes.swap(out_);
  return unsent;
}

bool Connection::wrote_all(bool succeeded) {
  Writer seen = Writer::kWrites;
  return succeeded && writer_.compare_exchange_strong(seen, Writer::kNone);
}

Connection::Unsent Connection::wrote() {
  writer_ = Writer::kNone;
  return take_unsent();
}

void Connection::write_failed() {
  writer_ = Writer::kNone;
  if (!closed_) close({Status::kUncertain, "the connection is broken"});
}

void Connection::wrote_but(std::string_view rest) {
  writer_ = Writer::kNone;
  if (closed_) return;
  out_begins_at_ -= rest.size();
  out_.insert(0, rest);
  mark_dirty();
}

void Connection::leave_last() {
  if (pending_.empty() || std::exchange(pending_.back().left, true)) return;
  ++left_;
}

void Connection::check_time() {
  if (!ready_) {
    if (loop_.now() < opened_by_) {
      timer_.arm(opened_by_);
    } else {
      close({Status::kUnreachable,
             "no connection within " + std::to_string(settings_.connect_timeout.count()) + " ms"});
    }
    return;
  }
  if (pending_.empty()) return;
  const TimePoint limit = pending_.front().sent + settings_.reply_timeout;
  if (loop_.now() < limit) {
    timer_.arm(limit);
  } else {
    close({Status::kUncertain,
           "no answer within " + std::to_string(settings_.reply_timeout.count()) + " ms"});
  }
}

void Connection::on_open() {
  if (closed_) return;  // its time was over in the same turn: after a pause both come together
  open_ = true;
  events_.opened();
  mark_dirty();
}

void Connection::on_bytes(std::string_view bytes) {
  const auto self = shared_from_this();  // a reply may make the owner drop this connection
  const auto fed = parser_.feed(bytes);
  if (!fed) return close(fed.error());
  while (!closed_) {
    auto next = parser_.next();
    if (!next) return close(next.error());
    if (!*next) return;
    take((*next)->view());
  }
}

void Connection::take(resp::View reply) {
  if (on_push_) return on_push_(reply);
  if (pending_.empty()) {
    return close({Status::kServer, "the server sent a reply that nothing asked for"});
  }
  const OnReply on_reply = std::move(pending_.front().on_reply);
  if (pending_.front().left) --left_;
  pending_.pop_front();
  on_reply(reply);
}

void Connection::on_closed(const std::string& why) {
  close({Status::kUncertain, open_ ? why : join("cannot connect", why)});
}

// Ends every request exactly once: those of which no byte left are certainly not executed.
void Connection::close(const Error& why) {
  if (closed_) return;
  const auto self = shared_from_this();
  closed_ = true;
  timer_.cancel();
  const std::string text = name_ + ": " + why.message;
  left_ = 0;
  for (auto& request : std::exchange(pending_, {})) {
    const bool untouched = request.begins_at >= out_begins_at_;
    request.on_reply(Error{untouched ? Status::kUnreachable : Status::kUncertain, text});
  }
  // What was held behind a failed log-in failed for the log-in's reason.
  const bool refused = !ready_ && why.status != Status::kUncertain;
  for (Held& held : std::exchange(held_, {})) {
    held.on_reply(Error{refused ? why.status : Status::kUnreachable, text});
  }
  loop_.bury(std::shared_ptr<void>(std::move(stream_)));
  events_.closed(Error{why.status, text});
}

void Connection::abandon() noexcept {
  closed_ = true;
  timer_.cancel();
  left_ = 0;
  pending_.clear();
  held_.clear();
  stream_.reset();
}

std::shared_ptr<Socket> Connection::borrow() {
  if (closed_ || !ready_ || borrowed_) return nullptr;
  auto socket = stream_->borrow();
  borrowed_ = socket != nullptr;
  return socket;
}

void Connection::feed(std::string_view bytes, long result) {
  if (closed_) return;
  if (result > 0) return on_bytes(bytes);
  if (result != Socket::kNothing)
    on_closed(result == 0 ? "the server closed the connection" : "read failed");
}

void Connection::give_back() {
  borrowed_ = false;
  if (closed_) return;
  if (!out_.empty()) mark_dirty();
  stream_->give_back();
  if (!pending_.empty() || on_push_) stream_->set_reading(true);
}

}  // namespace lockc
