// A client of the server that is none of lockc's: SET NX PX and compare-and-delete, as any library
// does it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "habits.h"
#include "judge.h"
#include "server.h"
#include "world.h"

namespace lockc::sim {

class PlainClient {
 public:
  PlainClient(World& world, Judge& judge, Server& server, const Habits& habits)
      : world_(world), judge_(judge), server_(server), habits_(habits) {}
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;
  void begin() { act(); }

 private:
  void act();
  void acquire();
  void release(const std::string& key, const std::string& owner);
  void send(const Arguments& request);

  World& world_;
  Judge& judge_;
  Server& server_;
  const Habits& habits_;
  uint64_t session_ = 0;  // 0: not connected
  uint64_t acquires_ = 0;
  std::function<void(const std::string&)> on_reply_;
};

}  // namespace lockc::sim
