// The clients of the protocol: from a state, all that can happen next.
#pragma once

#include <string>

#include "rules.h"
#include "search.h"
#include "state.h"

namespace model {

class Protocol {
 public:
  using Emit = Search<State>::Emit;

  Protocol(const Rules& rules, const Bounds& bounds) : rules_(rules), bounds_(bounds) {}

  State first() const;
  void next(const State& from, const Emit& emit) const;

 private:
  void users(const State& from, uint8_t at, const Emit& emit) const;
  void request(const State& from, uint8_t at, size_t which, const Emit& emit) const;
  void breaks(const State& from, uint8_t at, size_t which, const Emit& emit) const;
  void message(const State& from, size_t which, const Emit& emit) const;
  void late(const State& from, const Emit& emit) const;
  void tick(const State& from, const Emit& emit) const;

  void execute(const State& from, uint8_t at, size_t which, bool cut, const Emit& emit) const;
  void read(State& state, uint8_t at, const Request& answered) const;
  void hold(State& state, uint8_t at, uint8_t lease, uint8_t first) const;
  void enter(State& state, uint8_t at, uint8_t token) const;
  bool send(State& state, uint8_t at, Ask ask, uint8_t seq) const;
  bool is_blocked(const Client& client, size_t which) const;
  void done(State state, const Emit& emit, const Search<State>::Says& says) const;
  void forget(Client& client) const;
  bool leaks(const State& state) const;

  const Rules rules_;
  const Bounds bounds_;
};

}  // namespace model
