// The simulated server: sessions, scripts, pub/sub and a clock of its own that may run fast or
// slow, or be set. It answers the moment bytes arrive; the network makes them late.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "dataset.h"
#include "net/resp.h"
#include "script_engine.h"
#include "world.h"

namespace lockc::sim {

class Server {
 public:
  using Mutation = std::function<std::string(std::string)>;

  // `mutate` gets every script's text before it runs; nullptr: none.
  Server(World& world, ScriptEngine& engine, Mutation mutate);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // ---- the network's side
  struct Line {
    std::function<void(std::string)> send;
    std::function<void()> hang_up;  // the server ends the session
  };
  uint64_t accept(Line line);
  void receive(uint64_t session, std::string_view bytes);
  void gone(uint64_t session);
  bool is_up() const { return up_; }

  // ---- faults
  void crash(bool lose_data);
  void start();
  void forget_scripts() { known_.clear(); }
  void step_clock(Duration by) { offset_ += by; }
  void set_rate(double rate) { rate_ = rate; }
  bool may_publish = true;
  bool may_kill = true;
  bool notifies = false;            // of keys that go (notify-keyspace-events)
  bool is_full = false;             // denies what needs memory
  unsigned breaks_off_percent = 0;  // of scripts end by an error, unfinished

  // ---- what the checks look at
  Dataset& data();
  bool has_listeners() const;
  // When V was first set at a key, or TimePoint() if it never was.
  TimePoint first_set(const std::string& owner) const;
  TimePoint data_lost_at() const { return data_lost_at_; }
  bool clock_jumped() const { return clock_jumped_; }
  void note_clock_jump() { clock_jumped_ = true; }
  bool ever_broke_off() const { return ever_broke_off_; }

 private:
  struct Session {
    Line line;
    std::unique_ptr<resp::Parser> parser = std::make_unique<resp::Parser>();
    std::set<std::string> channels;
  };

  void drop(uint64_t session);
  Duration wall() const;
  Reply execute(const Arguments& request, uint64_t session);
  Reply run_script(const Arguments& request);
  Reply from_script(const Arguments& request);
  Reply client_command(const Arguments& request, uint64_t session);
  Reply publish(const std::string& channel, const std::string& message);
  int64_t tell(const std::string& channel, const std::string& message);
  Reply time() const;
  Reply listeners(const Arguments& request) const;
  Reply on_data(const Arguments& request);

  World& world_;
  ScriptEngine& engine_;
  const Mutation mutate_;
  Dataset data_;
  std::map<uint64_t, Session> sessions_;
  std::map<std::string, std::string> known_;  // sha1 -> text
  std::map<std::string, TimePoint> first_set_;
  uint64_t next_session_ = 1;
  unsigned starts_ = 1;
  bool up_ = true;
  Duration offset_{};
  double rate_ = 1;
  TimePoint data_lost_at_{};
  bool clock_jumped_ = false;
  bool ever_broke_off_ = false;

  // Of the script that runs.
  bool wrote_ = false;
  int64_t breaks_off_in_ = -1;  // writes; -1: never
};

}  // namespace lockc::sim
