// The simulated network between processes and the server. Bytes keep their order on a connection,
// as TCP's do; all else can go wrong: delays, cuts that lose or keep what is under way, silence.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "process.h"
#include "server.h"
#include "world.h"

namespace lockc::sim {

// One direction of a connection.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(World& world, Duration slowest, std::function<void(const std::string&)> arrive, Task end)
      : world_(world), slowest_(slowest), arrive_(std::move(arrive)), end_(std::move(end)) {}

  void send(std::string bytes);
  // The other side sees the end behind all that is under way.
  void finish();
  // Nothing arrives for so long; then all of it does.
  void stall(Duration span);
  // Nothing arrives ever.
  void silence();
  // What arrived last arrives once more.
  void repeat();

 private:
  void push(std::string bytes, bool is_end);
  void pump();

  struct Chunk {
    TimePoint due;
    std::string bytes;
    bool is_end;
  };
  World& world_;
  const Duration slowest_;
  const std::function<void(const std::string&)> arrive_;
  const Task end_;
  std::deque<Chunk> chunks_;
  std::string last_;
  TimePoint last_due_{};
  TimePoint stalled_until_{};
  bool silent_ = false;
};

// One connection.
struct Wire {
  Process* host = nullptr;
  StreamEvents* events = nullptr;  // nullptr: closed by the client
  bool open = false;               // the client may write
  std::shared_ptr<uint64_t> session = std::make_shared<uint64_t>(0);  // 0: not accepted yet
  std::shared_ptr<Lane> up;
  std::shared_ptr<Lane> down;
};

class Network {
 public:
  Network(World& world, Server& server, Duration slowest);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Every process has a transport of its own, so that the network knows whose a connection is.
  class Port final : public Transport {
   public:
    explicit Port(Network& network) : network_(network) {}
    std::unique_ptr<Stream> connect(const Endpoint& endpoint, StreamEvents& events) override;
    Process* host = nullptr;

   private:
    Network& network_;
  };

  // ---- faults; each strikes connections picked by the dice
  void cut_one();
  void silence_one();
  void stall_one(Duration span);
  // No byte from or to this process for so long.
  void partition(const Process& process, Duration span);
  // The machine of this process is gone without a word.
  void lose(const Process& process);

 private:
  friend class Port;
  friend class SimStream;
  std::shared_ptr<Wire> connect(Process& host, StreamEvents& events);
  void reach(const std::shared_ptr<Wire>& wire);
  void accept(const std::shared_ptr<Wire>& wire);
  void tell_closed(const std::shared_ptr<Wire>& wire, const std::string& why);
  void cut(const std::shared_ptr<Wire>& wire);
  std::shared_ptr<Wire> any();

  World& world_;
  Server& server_;
  const Duration slowest_;
  std::vector<std::weak_ptr<Wire>> wires_;
  std::vector<std::pair<const Process*, TimePoint>> partitions_;
};

}  // namespace lockc::sim
