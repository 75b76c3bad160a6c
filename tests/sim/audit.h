// Watches every step at the server: what a script may change, and who has a turn. Knows what
// docs/protocol.md says of the data, and nothing of how the scripts do it.
#pragma once

#include <string>

#include "records.h"
#include "server.h"
#include "turns.h"
#include "world.h"

namespace lockc::sim {

class Audit final : public Server::Witness {
 public:
  Audit(World& world, Server& server, Turns& turns, Records& records);
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  void before(const Server::Step& step) override;
  void after(const Server::Step& step) override;

 private:
  void check_unchanged(const Server::Step& step);
  void check_lock(const Server::Step& step, const std::string& key);
  void check_grant(const Server::Step& step, const std::string& key, const std::string& owner);
  void check_queue(const std::string& key, const std::string& queue);
  void check_fence(const std::string& fence);
  bool is_live(const std::string& owner) const;
  void fail(const Server::Step& step, const std::string& what);

  World& world_;
  Server& server_;
  Turns& turns_;
  Records& records_;
  Dataset::Entries was_;  // of the step's keys, before it
};

}  // namespace lockc::sim
