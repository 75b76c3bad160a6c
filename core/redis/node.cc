#include "redis/node.h"

#include <algorithm>
#include <array>
#include <utility>

#include "redis/errors.h"

namespace lockc {
namespace {

// Between failed connects. Short, for the waiters above have a back-off of their own: this one only
// bounds how often all of them together knock.
constexpr Millis kReconnectLow{10};
constexpr Millis kReconnectHigh{50};

}  // namespace

struct Node::Link {
  uint64_t serial = 0;
  std::shared_ptr<Connection> connection;
  std::string client_id;
  bool was_ready = false;
};

Node::Node(Loop& loop, const Config& config, const Log& log, std::function<void(bool)> reconnected)
    : loop_(loop),
      config_(config),
      log_(log),
      reconnected_(std::move(reconnected)),
      backoff_(kReconnectLow, kReconnectHigh) {}

Node::~Node() = default;

void Node::run(const Script& script, Texts keys, Texts arguments, const Order& order,
               OnReply on_reply) {
  const bool by_digest = takes_digests_ && loaded_.contains(&script);
  const std::string key_count = std::to_string(keys.size());
  std::vector<std::string_view> request;
  request.reserve(3 + keys.size() + arguments.size());
  request.push_back(by_digest ? "EVALSHA" : "EVAL");
  request.push_back(by_digest ? script.sha1 : script.text);
  request.push_back(key_count);
  request.insert(request.end(), keys.begin(), keys.end());
  request.insert(request.end(), arguments.begin(), arguments.end());
  const bool in_order = order.behind != nullptr || order.before != nullptr;
  if (by_digest && !in_order) on_reply = or_by_text(script, keys, arguments, std::move(on_reply));
  send(request, &script, order, std::move(on_reply));
}

Node::OnReply Node::or_by_text(const Script& script, Texts keys, Texts arguments,
                               OnReply on_reply) {
  using Copies = std::vector<std::string>;
  return [this, &script, keys = Copies(keys.begin(), keys.end()),
          arguments = Copies(arguments.begin(), arguments.end()),
          on_reply = std::move(on_reply)](const Result<resp::View>& reply) {
    if (reply || !is_noscript(reply.error())) return on_reply(reply);
    const std::vector<std::string_view> same_keys(keys.begin(), keys.end());
    const std::vector<std::string_view> same_arguments(arguments.begin(), arguments.end());
    run(script, same_keys, same_arguments, {}, on_reply);
  };
}

void Node::command(Texts request, const Order& order, OnReply on_reply) {
  send(request, nullptr, order, std::move(on_reply));
}

void Node::send(Texts request, const Script* script, const Order& order, OnReply on_reply) {
  Link* link = pick(order);
  if (link == nullptr) return fail_later(std::move(on_reply));
  latest_ = link->connection;
  Connection& connection = *link->connection;
  if (order.behind != nullptr) {
    // Nothing of a broken connection may act behind what follows. Best effort: it may be denied.
    for (const std::string& id : std::exchange(order.behind->unfinished, {})) {
      connection.send(std::array<std::string_view, 4>{"CLIENT", "KILL", "ID", id},
                      [](const Result<resp::View>&) {});
    }
  }
  if (order.before != nullptr) {
    order.before->link = link->serial;
    ++order.before->unanswered;
  }
  auto settle = [this, script, behind = order.behind, before = order.before, serial = link->serial,
                 on_reply = std::move(on_reply)](const Result<resp::View>& reply) {
    if (before != nullptr) --before->unanswered;
    if (!reply) {
      // Known by now, though perhaps not when the request was made.
      const Link* broken = find(serial);
      const std::string client_id = broken == nullptr ? std::string() : broken->client_id;
      if (reply.error().status == Status::kUncertain && !client_id.empty()) {
        if (behind != nullptr) behind->unfinished.push_back(client_id);
        if (before != nullptr && before != behind) {
          before->unfinished.push_back(client_id);
        }
      }
      return on_reply(reply.error());
    }
    if (reply->is_error()) {
      Error error = reply_error(reply->text());
      if (is_noscript(error)) loaded_.erase(script);
      if (refuses_digests(error)) takes_digests_ = false;
      return on_reply(std::move(error));
    }
    if (script != nullptr) loaded_.insert(script);
    on_reply(*reply);
  };
  const uint64_t number = connection.send(request, std::move(settle));
  // What names another value, too, must not be taken back: it owes that one an answer.
  if (order.before != nullptr) order.before->last = order.before == order.behind ? number : 0;
}

bool Node::withdraw(Route& route) {
  Link* link = route.unanswered > 0 ? find(route.link) : nullptr;
  if (link == nullptr || !link->connection->withdraw(route.last)) return false;
  --route.unanswered;
  return true;
}

void Node::fail_later(OnReply on_reply) {
  loop_.defer([on_reply = std::move(on_reply), reason = down_reason_] { on_reply(reason); });
}

void Node::connect(std::function<void(Result<std::monostate>)> done) {
  connecting_.push_back(std::move(done));
  const bool ready = std::ranges::any_of(links_, [](auto& l) { return l->connection->is_ready(); });
  if (ready) {
    loop_.defer([this] { tell_connected(std::monostate{}); });
  } else if (pick({}) == nullptr) {
    loop_.defer([this] { tell_connected(down_reason_); });
  }
}

void Node::close() {
  closed_ = true;
  down_reason_ = {Status::kUnreachable, "the client is closed"};
  while (!links_.empty()) {
    links_.back()->connection->close({Status::kUncertain, "the client is closed"});
  }
}

void Node::abandon() noexcept {
  for (const auto& link : links_) link->connection->abandon();
  links_.clear();
  connecting_.clear();
}

void Node::tell_connected(const Result<std::monostate>& result) {
  for (const auto& done : std::exchange(connecting_, {})) done(result);
}

Node::Link* Node::find(uint64_t serial) {
  const auto at = std::ranges::find_if(links_, [&](auto& link) { return link->serial == serial; });
  return at == links_.end() ? nullptr : at->get();
}

// Where the unanswered requests of a route are; nullptr: it has none that still count.
Node::Link* Node::link_of(const Route* route) {
  if (route == nullptr || route->unanswered == 0) return nullptr;
  Link* link = find(route->link);
  return link == nullptr || link->connection->is_closed() ? nullptr : link;
}

// One connection carries any number of pipelined requests; only callers that read for themselves
// keep others from sharing one well, so only these make the client open more.
Node::Link* Node::pick(const Order& order) {
  if (Link* link = link_of(order.behind.get())) return link;
  if (Link* link = link_of(order.follows.get())) return link;
  Link* best = nullptr;
  Link* connecting = nullptr;
  size_t left = crowded_ ? kLinksOfACrowd : kMaxLinks;
  for (const auto& link : links_) {
    Connection& connection = *link->connection;
    if (connection.is_closed()) continue;  // its requests are just being told
    if (!connection.is_ready()) {
      connecting = link.get();
      continue;
    }
    if (!connection.is_borrowed()) return link.get();
    if (best == nullptr || connection.outstanding() < best->connection->outstanding()) {
      best = link.get();
    }
    if (--left == 0) return best;
  }
  if (connecting == nullptr && links_.size() < kMaxLinks && !closed_ &&
      loop_.now() >= down_until_) {
    connecting = &open_link();
  }
  return best != nullptr ? best : connecting;
}

Node::Link& Node::open_link() {
  const uint64_t serial = next_serial_++;
  auto link = std::make_unique<Link>();
  link->serial = serial;
  Connection::Events events;
  events.opened = [this, serial] {
    Connection& connection = *find(serial)->connection;
    log_in(connection, config_.endpoint, config_.identity, [this, serial](auto server) {
      Link* opened = find(serial);
      if (opened == nullptr) return;
      if (!server) return opened->connection->close(server.error());
      link_ready(serial, std::move(*server));
    });
  };
  events.closed = [this, serial](const Error& why) { link_closed(serial, why); };
  link->connection = Connection::open(loop_, config_.endpoint, config_.settings, std::move(events));
  return *links_.emplace_back(std::move(link));
}

void Node::link_ready(uint64_t serial, ServerIdentity server) {
  Link& link = *find(serial);
  link.client_id = std::move(server.client_id);
  link.was_ready = true;
  // Without a run id nobody can tell, so every new connection may be to another server.
  const bool changed = was_connected_ && (server.run_id.empty() || server.run_id != run_id_);
  run_id_ = std::move(server.run_id);
  if (changed) {
    loaded_.clear();
    takes_digests_ = true;
  }
  const bool again = std::exchange(broken_, false) && was_connected_;
  was_connected_ = true;
  backoff_.reset();
  link.connection->ready();
  if (again || changed) reconnected_(changed);
  tell_connected(std::monostate{});
}

void Node::link_closed(uint64_t serial, const Error& why) {
  const auto at = std::ranges::find_if(links_, [&](auto& link) { return link->serial == serial; });
  if (at == links_.end()) return;
  const bool was_ready = (*at)->was_ready;
  auto connection = std::move((*at)->connection);
  links_.erase(at);
  loop_.bury(std::move(connection));
  broken_ = true;
  if (closed_) return;
  if (was_ready) {
    if (why.status == Status::kUncertain) log_.warn(why.message);
    return;
  }
  const bool refused = why.status != Status::kUncertain;
  down_reason_ = Error{refused ? why.status : Status::kUnreachable, why.message};
  down_until_ = loop_.now() + backoff_.next(loop_.random());
  tell_connected(down_reason_);
}

}  // namespace lockc
