#include "protocol.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "server.h"

namespace model {
namespace {

char letter(uint8_t client) { return static_cast<char>('A' + client); }

std::string name(uint8_t client, uint8_t seq) { return letter(client) + std::to_string(seq); }
std::string name(Owner owner) { return name(owner.client, owner.seq); }

const char* word(Ask ask) {
  constexpr std::array<const char*, 4> kWords = {"", "acquire", "release", "requeue"};
  return kWords[static_cast<size_t>(ask)];
}

void remove(Client& client, size_t which) {
  auto& requests = client.requests;
  std::move(requests.begin() + which + 1, requests.end(), requests.begin() + which);
  requests.back() = {};
}

bool gives_up(const Client& client, uint8_t seq, bool unexecuted) {
  return std::any_of(client.requests.begin(), client.requests.end(), [&](const Request& r) {
    return r.gives_up(seq) && (!unexecuted || r.answer == Answer::kNone);
  });
}

bool is_present(const Client& client, uint8_t seq) {
  return client.seq == seq && client.mode != Mode::kIdle;
}

void older(uint8_t& age) { age = std::min<uint8_t>(kTtl, age + 1); }

}  // namespace

State Protocol::first() const {
  State state{};
  for (Client& client : state.clients) {
    client.waiting = bounds_.users;
    client.answered = kTtl;
  }
  return state;
}

void Protocol::next(const State& from, const Emit& emit) const {
  for (uint8_t at = 0; at < kClients; ++at) {
    users(from, at, emit);
    for (size_t i = 0; i < kRequests && from.clients[at].requests[i].ask != Ask::kNone; ++i) {
      request(from, at, i, emit);
      breaks(from, at, i, emit);
    }
  }
  for (size_t i = 0; i < kMessages; ++i) message(from, i, emit);
  late(from, emit);
  tick(from, emit);
}

// ---- what users do

void Protocol::users(const State& from, uint8_t at, const Emit& emit) const {
  const Client& client = from.clients[at];
  const bool idle = client.mode == Mode::kIdle;
  const std::string who = idle ? std::string(1, letter(at)) : name(at, client.seq);
  auto change = [&](const char* what, auto how) {
    State state = from;
    if (how(state, state.clients[at])) done(state, emit, [&] { return who + ": " + what; });
  };
  switch (client.mode) {
    case Mode::kIdle:
      if (client.waiting > 0 && client.seq < bounds_.values) {
        change("asks with a new value", [&](State& s, Client& c) {
          c.mode = Mode::kAsking;
          return send(s, at, Ask::kAcquire, ++c.seq);
        });
      }
      if (!rules_.dead && client.waiting > 0 && client.lease > 0 && client.next <= client.last &&
          gives_up(client, client.seq, false)) {
        change("a user takes over what is being released", [&](State& s, Client& c) {
          c.mode = Mode::kHolding;
          --c.waiting;
          enter(s, at, c.next++);
          return true;
        });
      }
      return;
    case Mode::kAsking: {
      const auto& all = client.requests;
      if (std::none_of(all.begin(), all.end(),
                       [&](const Request& r) { return r.may_grant() == client.seq; })) {
        change("polls", [&](State& s, Client& c) { return send(s, at, Ask::kAcquire, c.seq); });
      }
      change("a user cancels", [&](State& s, Client& c) {
        if (--c.waiting > 0) return true;
        c.mode = Mode::kIdle;
        return send(s, at, Ask::kRelease, c.seq);
      });
      return;
    }
    case Mode::kHolding:
      if (client.waiting > 0 && (client.next <= client.last || !rules_.block_ends)) {
        change("hands over in memory", [&](State& s, Client& c) {
          --c.waiting;
          enter(s, at, c.next++);
          return true;
        });
      }
      if (client.waiting > 0 && client.seq < bounds_.values) {
        change("requeues", [&](State& s, Client& c) {
          c.mode = Mode::kAsking;
          return send(s, at, Ask::kRequeue, c.seq++);
        });
      }
      [[fallthrough]];
    case Mode::kLost:
      change("releases", [&](State& s, Client& c) {
        c.mode = Mode::kIdle;
        return send(s, at, Ask::kRelease, c.seq);
      });
  }
}

bool Protocol::send(State& state, uint8_t at, Ask ask, uint8_t seq) const {
  Client& client = state.clients[at];
  if (ask == Ask::kAcquire) client.sent = 0;
  for (Request& request : client.requests) {
    if (request.ask != Ask::kNone) continue;
    request = {ask, seq, 0, Answer::kNone, 0};
    return true;
  }
  return false;
}

void Protocol::hold(State& state, uint8_t at, uint8_t lease, uint8_t first) const {
  Client& client = state.clients[at];
  client.mode = Mode::kHolding;
  client.lease = lease;
  client.next = first + 1;
  client.last = first + kBlock - 1;
  --client.waiting;
  enter(state, at, first);
}

void Protocol::enter(State& state, uint8_t at, uint8_t token) const {
  if (token <= state.largest) state.what = Broken::kToken;
  state.largest = std::max(state.largest, token);
  for (uint8_t other = 0; other < kClients; ++other) {
    if (other != at && state.clients[other].mode == Mode::kHolding)
      state.what = Broken::kTwoHolders;
  }
}

// ---- requests and their answers

// Whether an earlier request on the same connection comes first.
bool Protocol::is_blocked(const Client& client, size_t which) const {
  if (!rules_.one_order) return false;
  const Request& request = client.requests[which];
  const auto begin = client.requests.begin();
  return std::any_of(
      begin, begin + static_cast<std::ptrdiff_t>(which), [&](const Request& earlier) {
        const bool same = earlier.names(request.seq) ||
                          (request.may_grant() != 0 && earlier.names(request.may_grant()));
        return same && (request.answer != Answer::kNone || earlier.answer == Answer::kNone);
      });
}

void Protocol::request(const State& from, uint8_t at, size_t which, const Emit& emit) const {
  const Request& request = from.clients[at].requests[which];
  if (is_blocked(from.clients[at], which)) return;
  if (request.answer == Answer::kNone) {
    execute(from, at, which, false, emit);
    if (!rules_.message_last && request.ask == Ask::kRelease) execute(from, at, which, true, emit);
    return;
  }
  State state = from;
  remove(state.clients[at], which);
  read(state, at, request);
  done(state, emit, [&] {
    return std::string(1, letter(at)) + " reads the answer to " + word(request.ask) + " " +
           name(at, request.seq) + (state.clients[at].mode == Mode::kHolding ? ": holds" : "");
  });
}

void Protocol::execute(const State& from, uint8_t at, size_t which, bool cut,
                       const Emit& emit) const {
  State state = from;
  Request& request = state.clients[at].requests[which];
  Server server(state, rules_, bounds_);
  const Owner value{at, request.seq};
  Server::Reply reply;
  if (request.ask == Ask::kAcquire) reply = server.acquire(value);
  if (request.ask == Ask::kRelease) reply = server.release(value, cut);
  if (request.ask == Ask::kRequeue) reply = server.requeue(value, {at, request.may_grant()});
  if (!server.fits()) return;
  std::tie(request.answer, request.token) = reply;
  const std::string what = std::string("server: ") + word(request.ask) + " " + name(value);
  done(state, emit, [&] {
    return what + (cut ? " is cut off" : "") + ", the key is " +
           (state.expiry == 0 ? "free" : name(state.holder) + "'s");
  });
}

void Protocol::read(State& state, uint8_t at, const Request& answered) const {
  Client& client = state.clients[at];
  if (!is_present(client, answered.may_grant())) return;
  const bool granted = answered.answer == Answer::kGranted;
  if (client.mode == Mode::kAsking && granted) {
    const uint8_t lease = rules_.from_sent ? kTtl - answered.age : kTtl;
    if (lease > 0) hold(state, at, lease, answered.token);
  } else if (client.mode == Mode::kAsking) {
    client.answered = answered.age;
    client.mark = answered.token;
  } else if (client.mode == Mode::kHolding && granted && !rules_.first_grant) {
    client.next = answered.token;
    client.last = answered.token + kBlock - 1;
  }
}

// The connection of a request breaks: before or after it was executed, and what is repeated then.
void Protocol::breaks(const State& from, uint8_t at, size_t which, const Emit& emit) const {
  const Request& request = from.clients[at].requests[which];
  const std::string what = std::string(word(request.ask)) + " " + name(at, request.seq);
  State state = from;
  Client& client = state.clients[at];
  if (request.ask == Ask::kAcquire || !rules_.resent) {
    remove(client, which);
  } else {
    client.requests[which] = {Ask::kRelease, request.seq, 0, Answer::kNone, 0};
  }
  done(state, emit, [&] { return "the connection of " + what + " breaks"; });
  if (bounds_.late && from.late.seq == 0 && request.ask == Ask::kAcquire &&
      request.answer == Answer::kNone) {
    state.late = {at, request.seq};
    done(state, emit, [&] { return what + " is given up and still under way"; });
  }
}

void Protocol::late(const State& from, const Emit& emit) const {
  if (from.late.seq == 0) return;
  State state = from;
  Server server(state, rules_, bounds_);
  server.acquire(std::exchange(state.late, {}));
  if (!server.fits()) return;
  done(state, emit, [&] { return "server: late acquire " + name(from.late); });
}

// ---- messages and time

void Protocol::message(const State& from, size_t which, const Emit& emit) const {
  const Message message = from.messages[which];
  if (message.to.seq == 0) return;
  State state = from;
  state.messages[which] = {};
  done(state, emit, [&] { return "the message to " + name(message.to) + " is lost"; });

  const uint8_t at = message.to.client;
  const uint8_t seq = message.to.seq;
  Client& client = state.clients[at];
  bool fits = true;
  if (is_present(client, seq)) {
    if (client.mode == Mode::kAsking) {
      const uint8_t lease = kTtl - (rules_.from_answered ? client.answered : client.sent);
      if (lease > 0 && (message.first > client.mark || !rules_.mark)) {
        hold(state, at, lease, message.first);
      }
    } else if (client.mode == Mode::kHolding && !rules_.held_ignores) {
      fits = send(state, at, Ask::kRelease, seq);
    } else if (client.mode == Mode::kHolding && !rules_.first_grant) {
      client.next = message.first;
      client.last = message.first + kBlock - 1;
    }
  } else if (!gives_up(client, seq, false)) {
    fits = send(state, at, Ask::kRelease, seq);
  }
  if (!fits) return;
  done(state, emit, [&] {
    return "the message to " + name(message.to) + " with token " + std::to_string(message.first) +
           " is read" + (client.mode == Mode::kHolding ? ", it holds" : "");
  });
}

void Protocol::tick(const State& from, const Emit& emit) const {
  State state = from;
  Server(state, rules_, bounds_).tick();
  for (Client& client : state.clients) {
    older(client.answered);
    older(client.sent);
    for (Request& request : client.requests) older(request.age);
    if (client.lease > 0 && --client.lease == 0 && client.mode == Mode::kHolding) {
      client.mode = Mode::kLost;
    }
  }
  done(state, emit, [&] {
    return std::string("time passes, the key is ") +
           (state.expiry == 0 ? "free" : name(state.holder) + "'s");
  });
}

// ---- what a state is taken for

// Leaves out what no longer matters, so that equal states are the same, and looks for a leak.
void Protocol::done(State state, const Emit& emit, const Search<State>::Says& says) const {
  for (Client& client : state.clients) forget(client);
  auto& messages = state.messages;
  std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::tuple(a.to.client, a.to.seq, a.first) > std::tuple(b.to.client, b.to.seq, b.first);
  });
  if (!bounds_.late && leaks(state)) state.what = Broken::kLeak;
  emit(state, says);
}

void Protocol::forget(Client& client) const {
  if (client.mode != Mode::kAsking) client.answered = kTtl;
  if (client.answered == kTtl && rules_.from_answered) client.mark = 0;
  if (client.mode != Mode::kAsking || rules_.from_answered) client.sent = 0;
  if (client.mode != Mode::kHolding && (client.mode != Mode::kIdle || rules_.dead)) {
    client.lease = client.next = client.last = 0;
  }
  for (size_t i = kRequests; i-- > 0;) {
    Request& request = client.requests[i];
    if (request.ask == Ask::kRelease || request.ask == Ask::kNone) request.age = 0;
    const bool heard = is_present(client, request.may_grant()) && client.mode != Mode::kLost;
    if (request.ask == Ask::kAcquire && request.answer != Answer::kNone && !heard)
      remove(client, i);
  }
}

bool Protocol::leaks(const State& state) const {
  if (state.expiry == 0) return false;
  const Client& client = state.clients[state.holder.client];
  const auto told = [&](const Message& message) { return message.to == state.holder; };
  return !is_present(client, state.holder.seq) && !gives_up(client, state.holder.seq, true) &&
         std::none_of(state.messages.begin(), state.messages.end(), told);
}

}  // namespace model
