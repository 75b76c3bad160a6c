#include "redis/wake_channel.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/types.h"
#include "redis/errors.h"

namespace lockc {
namespace {

constexpr Millis kReconnectLow{10};
constexpr Millis kReconnectHigh{500};

template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<WakeMessage> WakeMessage::parse(std::string_view payload) {
  WakeMessage message;
  const size_t space = payload.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  message.owner = payload.substr(0, space);
  payload.remove_prefix(space + 1);
  if (!take_number(payload, message.first) || !take_number(payload, message.count)) {
    return std::nullopt;
  }
  if (message.first >= FencingToken::kEnd) return std::nullopt;
  message.key = payload;
  return message;
}

WakeChannel::WakeChannel(Loop& loop, const Node::Config& config, const Log& log, Events events)
    : loop_(loop),
      config_(config),
      log_(log),
      events_(std::move(events)),
      channel_("lockc:wake:" + config.identity.client),
      keyspace_("__keyspace@" + std::to_string(config.endpoint.database) + "__:"),
      backoff_(kReconnectLow, kReconnectHigh),
      retry_(loop.timers(),
             [this] {
               if (wanted_) open();
             }),
      pong_(loop.timers(), [this] {
        if (connection_) connection_->close({Status::kUncertain, "no answer on the wake channel"});
      }) {}

WakeChannel::~WakeChannel() = default;

void WakeChannel::want() {
  if (denied_) return;
  wanted_ = true;
  if (state_ == State::kOff && !retry_.armed()) open();
}

void WakeChannel::open() {
  state_ = State::kConnecting;
  Connection::Events events;
  events.opened = [this] {
    log_in(*connection_, config_.endpoint, config_.identity, [this](const auto& server) {
      if (!server) return connection_->close(server.error());
      subscribe();
    });
  };
  events.closed = [this](const Error& why) { closed(why); };
  connection_ = Connection::open(loop_, config_.endpoint, config_.settings, std::move(events));
}

void WakeChannel::subscribe() {
  connection_->set_push([this](resp::View push) { take(push); });
  connection_->ready();
  send("SUBSCRIBE", channel_);
  pong_.arm(loop_.now() + config_.settings.reply_timeout);
}

void WakeChannel::send(std::string_view verb, std::string_view channel) {
  connection_->send(std::array<std::string_view, 2>{verb, channel},
                    [](const Result<resp::View>&) {});
}

void WakeChannel::watch(const std::string& key) {
  if (state_ == State::kConfirmed && ++watched_[key] == 1) send("SUBSCRIBE", keyspace_ + key);
}

void WakeChannel::unwatch(const std::string& key) {
  const auto found = watched_.find(key);
  if (found == watched_.end() || --found->second > 0) return;
  watched_.erase(found);
  send("UNSUBSCRIBE", keyspace_ + key);
}

void WakeChannel::take(resp::View push) {
  pong_.cancel();
  // Once the own channel is confirmed, only the keyspace may still be denied, which leaves the
  // back-off.
  if (push.is_error() && state_ == State::kConfirmed) return;
  if (push.is_error()) {
    const Error error = reply_error(push.text());
    denied_ = error.status == Status::kDenied || error.status == Status::kUnsupported;
    if (denied_) log_.warn(join("waiters poll, for this user may not subscribe", error.message));
    return connection_->close(error);
  }
  const std::string_view kind = push[0].text();
  const std::string_view channel = push[1].text();
  if (kind == "message" && channel.starts_with(keyspace_)) {
    // https://redis.io/docs/latest/develop/use/keyspace-notifications/
    const std::string_view event = push[2].text();
    const bool gone = event == "del" || event == "expired" || event == "evicted";
    if (gone) events_.key_gone(channel.substr(keyspace_.size()));
  } else if (kind == "message") {
    if (const auto message = WakeMessage::parse(push[2].text())) events_.message(*message);
  } else if (kind == "subscribe" && state_ != State::kConfirmed) {
    state_ = State::kConfirmed;
    backoff_.reset();
    events_.confirmed();
  }
}

void WakeChannel::ping() {
  if (state_ != State::kConfirmed || pong_.armed()) return;
  connection_->send(std::array<std::string_view, 1>{"PING"}, [](const Result<resp::View>&) {});
  pong_.arm(loop_.now() + config_.settings.reply_timeout);
}

void WakeChannel::reset() {
  if (connection_) connection_->close({Status::kUncertain, "given up"});
}

void WakeChannel::close() {
  denied_ = true;
  reset();
}

void WakeChannel::abandon() noexcept {
  if (connection_ != nullptr) connection_->abandon();
  connection_ = nullptr;
  state_ = State::kOff;
  wanted_ = false;
  watched_.clear();
  retry_.cancel();
  pong_.cancel();
}

void WakeChannel::closed(const Error& why) {
  pong_.cancel();
  loop_.bury(std::exchange(connection_, nullptr));
  watched_.clear();
  const bool was_confirmed = std::exchange(state_, State::kOff) == State::kConfirmed;
  if (!denied_) retry_.arm(loop_.now() + backoff_.next(loop_.random()));
  if (!was_confirmed && !denied_) return;
  if (was_confirmed && !denied_) log_.warn(join("wake channel", why.message));
  wanted_ = false;
  events_.lost();  // who still waits wants it again
}

}  // namespace lockc
