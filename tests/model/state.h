// One key, its server and its clients, small enough to look at every state they can reach.
//
// Time goes in ticks; a lease is kTtl of them. Owner values are numbered per client (seq). Tokens
// count from 1 and come in blocks of kBlock. Messages and requests are delayed without bound, lost,
// and executed without their answer being heard; requests of different owner values overtake each
// other. Every waiter is live: subscribers and staleness are left out, and so are renewals.
#pragma once

#include <array>
#include <cstdint>

namespace model {

constexpr int kClients = 2;
constexpr int kRequests = 3;  // under way per client
constexpr int kMessages = 2;  // under way
constexpr uint8_t kTtl = 2;
constexpr uint8_t kBlock = 2;

enum class Ask : uint8_t { kNone, kAcquire, kRelease, kRequeue };
enum class Answer : uint8_t { kNone, kGranted, kQueued, kDone };

struct Request {
  Ask ask;
  uint8_t seq;    // the owner value it names; requeue gives seq up and asks for seq + 1
  uint8_t age;    // ticks since it was sent
  Answer answer;  // kNone: not executed
  uint8_t token;  // kGranted: the first of the block; kQueued: the mark

  uint8_t may_grant() const {
    return ask == Ask::kAcquire ? seq : ask == Ask::kRequeue ? seq + 1 : 0;
  }
  bool gives_up(uint8_t value) const {
    return (ask == Ask::kRelease || ask == Ask::kRequeue) && seq == value;
  }
  bool names(uint8_t value) const { return seq == value || may_grant() == value; }
};

enum class Mode : uint8_t { kIdle, kAsking, kHolding, kLost };

// A client: its users share its owner value while they wait, and pass the lock on among themselves.
struct Client {
  Mode mode;
  uint8_t seq;       // of the present owner value
  uint8_t waiting;   // users that wait, the one whose turn it is included
  uint8_t lease;     // ticks of proven validity left
  uint8_t next;      // token of the next holder in this block
  uint8_t last;      // of the block
  uint8_t answered;  // ticks since the last answered poll was sent; kTtl: too long to matter
  uint8_t sent;      // ticks since the last poll was sent; kept only where a rule is broken by it
  uint8_t mark;      // of the last answered poll
  std::array<Request, kRequests> requests;  // in the order of sending
};

struct Owner {
  uint8_t client;
  uint8_t seq;  // 0: nobody
  bool operator==(const Owner&) const = default;
};

struct Message {
  Owner to;
  uint8_t first;
};

enum class Broken : uint8_t { kNothing, kTwoHolders, kToken, kLeak, kAsleep, kOrder };

struct State {
  std::array<Client, kClients> clients;
  Owner holder;  // at the server
  uint8_t expiry;
  std::array<Owner, 4> queue;
  uint8_t fence;
  std::array<Message, kMessages> messages;
  Owner late;       // an acquire that still executes though its connection was given up
  uint8_t largest;  // token a holder entered with
  Broken what;

  const char* broken() const {
    constexpr std::array<const char*, 6> kNames = {
        nullptr,
        "two holders",
        "a token that does not grow",
        "the key is held by a dead owner value and nothing will free it",
        "the key is free and a waiter was not told",
        "a waiter was passed",
    };
    return kNames[static_cast<size_t>(what)];
  }
};

}  // namespace model
