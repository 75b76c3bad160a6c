// A client on a network in memory, and what one input makes of it. One letter each; n is a digit,
// and a byte that is no letter of this list means nothing.
//
//   a w W s f u   asks for a lock: one try · waits 2 s · for ever · spins · in order · unfenced
//   2             the same owner asks again for what it holds
//   rn en cn      gives back, extends, cancels what the n-th operation asked for or got
//   Rn            gives back without waiting for the answer
//   i k           inspects a key; wants a connection
//   v V           reads a record; writes it
//   o             the server opens connections, and answers log-ins and subscriptions as servers do
//   + ? -         it answers the oldest request about a lock: granted, queued, busy
//   y             ... and all such requests, as if they came to a server with nobody else
//   =nBYTES`      it answers the oldest request of the n-th latest connection with BYTES, cut at
//                 each |; or sends them unasked
//   mn            it tells the owner of the n-th operation that it was granted; Mn: that it may ask
//   xn            it closes the n-th latest connection; X: and is another server from now on
//   tn jn         2^n ms pass; the process stands still for so long
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../support/client_rig.h"
#include "input.h"
#include "lock/record.h"

namespace lockc::fuzz {

class Session {
 public:
  explicit Session(Input input) : input_(input) {}

  // Follows the input, then lets the server fall silent and closes the client: by then each
  // operation has been answered exactly once.
  void run();

 private:
  void step(char letter);
  void ask(char letter);
  void inspect();
  void connect();
  void read_record();
  void write_record();
  test::Operation& add();
  const test::Operation* pick();
  std::shared_ptr<test::FakeLink> pick_link();

  void answer(char letter);
  void answer_all();
  std::string reply_to(const test::ScriptCall& call, char letter);
  void push_bytes();
  void wake(uint64_t first);

  void finish();
  void check_operations();
  void check_losses();

  Input input_;
  test::ClientRig rig_;
  RecordStore records_{rig_.node};
  std::vector<test::Operation> operations_;
  std::vector<bool> bounded_;  // whether the operation ends by itself
  std::vector<bool> fenced_;   // whether its grant, if it gets one, has a token
  std::vector<std::pair<std::string, std::string>> owners_;  // seen at the server, with their keys
  std::shared_ptr<test::Recorder> losses_ = std::make_shared<test::Recorder>();
  uint64_t token_ = 1'000;
};

}  // namespace lockc::fuzz
