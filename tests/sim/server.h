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
#include "lock/scripts.h"
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
  enum class Loss { kNothing, kLastMoments, kEverything };
  void crash(Loss loss);
  void start();
  // What stands now survives a crash that loses the last moments.
  void save() { saved_ = data().entries(); }
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
  Duration wall() const;
  // How long from now key stands, if nobody touches it; on the world's clock, not on its own.
  Duration left_of(const Dataset::Entry& entry) const;
  int64_t listeners(const std::string& channel) const;
  bool has_listeners() const;
  // A crash lost that this owner had a key, or that it had it for so long.
  bool has_forgotten(const std::string& owner) const { return forgotten_.contains(owner); }
  bool clock_jumped() const { return clock_jumped_; }
  void note_clock_jump() { clock_jumped_ = true; }
  bool ever_broke_off() const { return ever_broke_off_; }

  // One script, or a SET outside of scripts.
  struct Step {
    const Script* script;  // nullptr: none of lockc's
    Arguments keys;
    Arguments arguments;
  };
  // Looks at the data before and after each step.
  class Witness {
   public:
    virtual ~Witness() = default;
    virtual void before(const Step& step) = 0;
    virtual void after(const Step& step) = 0;
  };
  void set_witness(Witness& witness) { witness_ = &witness; }

 private:
  struct Session {
    Line line;
    std::string name{};
    std::unique_ptr<resp::Parser> parser = std::make_unique<resp::Parser>();
    std::set<std::string> channels;
  };

  void drop(uint64_t session);
  Reply execute(const Arguments& request, uint64_t session);
  Reply run_script(const Arguments& request);
  Reply from_script(const Arguments& request);
  Reply run_plainly(const Arguments& request);
  Reply client_command(const Arguments& request, uint64_t session);
  Reply client_list() const;
  Reply publish(const std::string& channel, const std::string& message);
  int64_t tell(const std::string& channel, const std::string& message);
  Reply time() const;
  Reply numsub(const Arguments& request) const;
  Reply on_data(const Arguments& request);

  World& world_;
  ScriptEngine& engine_;
  const Mutation mutate_;
  Dataset data_;
  Dataset::Entries saved_;
  std::set<std::string> forgotten_;
  Witness* witness_ = nullptr;
  std::map<uint64_t, Session> sessions_;
  std::map<std::string, std::string> known_;  // sha1 -> text
  uint64_t next_session_ = 1;
  unsigned starts_ = 1;
  bool up_ = true;
  Duration offset_{};
  double rate_ = 1;
  bool clock_jumped_ = false;
  bool ever_broke_off_ = false;

  // Of the script that runs.
  bool wrote_ = false;
  int64_t breaks_off_in_ = -1;  // writes; -1: never
};

}  // namespace lockc::sim
