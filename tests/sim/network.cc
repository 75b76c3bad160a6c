#include "network.h"

#include <algorithm>
#include <utility>

namespace lockc::sim {

// ---- lanes

void Lane::send(std::string bytes) { push(std::move(bytes), false); }
void Lane::finish() { push({}, true); }

void Lane::push(std::string bytes, bool is_end) {
  if (silent_) return;
  last_due_ = std::max(last_due_, world_.now() + world_.between(20us, slowest_));
  chunks_.push_back({last_due_, std::move(bytes), is_end});
  world_.at(last_due_, [self = shared_from_this()] { self->pump(); });
}

void Lane::pump() {
  if (stalled_until_ > world_.now()) return;
  while (!chunks_.empty() && chunks_.front().due <= world_.now()) {
    const Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    if (chunk.is_end) {
      end_();
    } else {
      last_ = chunk.bytes;
      arrive_(chunk.bytes);
    }
  }
}

void Lane::stall(Duration span) {
  stalled_until_ = std::max(stalled_until_, world_.now() + span);
  world_.at(stalled_until_, [self = shared_from_this()] { self->pump(); });
}

void Lane::silence() {
  silent_ = true;
  chunks_.clear();
}

void Lane::repeat() {
  if (!last_.empty()) push(last_, false);
}

// ---- the client's end

class SimStream final : public Stream {
 public:
  SimStream(World& world, std::shared_ptr<Wire> wire) : world_(world), wire_(std::move(wire)) {}
  ~SimStream() override {
    wire_->events = nullptr;
    wire_->open = false;
    wire_->up->finish();
  }
  SimStream(const SimStream&) = delete;
  SimStream& operator=(const SimStream&) = delete;

  // Now and then the socket's buffer is full, half-way through a request.
  size_t write(std::string_view bytes) override {
    if (!wire_->open) return 0;
    const size_t taken = world_.chance(1) ? bytes.size() / 2 : bytes.size();
    if (taken > 0) wire_->up->send(std::string(bytes.substr(0, taken)));
    if (taken < bytes.size()) {
      world_.in(1ms, [wire = wire_] {
        wire->host->deliver([wire] {
          if (wire->events != nullptr && wire->open) wire->events->on_writable();
        });
      });
    }
    return taken;
  }
  void set_reading(bool) override {}
  std::shared_ptr<Socket> borrow() override { return nullptr; }
  void give_back() override {}
  std::shared_ptr<Socket> socket() override { return nullptr; }

 private:
  World& world_;
  const std::shared_ptr<Wire> wire_;
};

// ---- the network

Network::Network(World& world, Server& server, Duration slowest)
    : world_(world), server_(server), slowest_(slowest) {}

std::unique_ptr<Stream> Network::Port::connect(const Endpoint&, StreamEvents& events) {
  return std::make_unique<SimStream>(network_.world_, network_.connect(*host, events));
}

std::shared_ptr<Wire> Network::connect(Process& host, StreamEvents& events) {
  auto wire = std::make_shared<Wire>();
  const auto weak = std::weak_ptr(wire);
  wire->host = &host;
  wire->events = &events;
  wire->up = std::make_shared<Lane>(
      world_, slowest_,
      [this, session = wire->session](const std::string& bytes) {
        server_.receive(*session, bytes);
      },
      [this, session = wire->session] { server_.gone(*session); });
  wire->down = std::make_shared<Lane>(
      world_, slowest_,
      [weak](const std::string& bytes) {
        const auto to = weak.lock();
        if (to == nullptr) return;
        to->host->deliver([to, bytes] {
          if (to->events != nullptr && to->open) to->events->on_bytes(bytes);
        });
      },
      [this, weak] {
        if (const auto to = weak.lock()) tell_closed(to, "the server closed the connection");
      });
  std::erase_if(wires_, [](const auto& old) { return old.expired(); });
  wires_.push_back(wire);
  world_.in(world_.between(20us, slowest_), [this, wire] { reach(wire); });
  return wire;
}

// The first packet comes to the server's machine; it is sent again while the network is parted.
void Network::reach(const std::shared_ptr<Wire>& wire) {
  if (wire->events == nullptr) return;
  for (const auto& [process, end] : partitions_) {
    if (process == wire->host && end > world_.now()) {
      return world_.at(end, [this, wire] { reach(wire); });
    }
  }
  if (!server_.is_up()) return tell_closed(wire, "connection refused");
  accept(wire);
}

void Network::accept(const std::shared_ptr<Wire>& wire) {
  const auto weak = std::weak_ptr(wire);
  *wire->session = server_.accept({[weak](std::string bytes) {
                                     if (const auto to = weak.lock())
                                       to->down->send(std::move(bytes));
                                   },
                                   [weak] {
                                     const auto to = weak.lock();
                                     if (to == nullptr) return;
                                     to->up->silence();
                                     to->down->finish();
                                   }});
  world_.in(world_.between(20us, slowest_), [wire] {
    wire->host->deliver([wire] {
      if (wire->events == nullptr) return;
      wire->open = true;
      wire->events->on_open();
    });
  });
}

void Network::tell_closed(const std::shared_ptr<Wire>& wire, const std::string& why) {
  wire->host->deliver([wire, why] {
    wire->open = false;
    if (wire->events != nullptr) wire->events->on_closed(why);
  });
}

std::shared_ptr<Wire> Network::any() {
  std::vector<std::shared_ptr<Wire>> standing;
  for (const auto& weak : wires_) {
    auto wire = weak.lock();
    if (wire != nullptr && *wire->session != 0 && wire->events != nullptr) {
      standing.push_back(std::move(wire));
    }
  }
  return standing.empty() ? nullptr : standing[world_.below(standing.size())];
}

// The client sees the end soon. What it wrote before is lost, or comes late, perhaps twice, and the
// server sees the end behind it.
void Network::cut(const std::shared_ptr<Wire>& wire) {
  wire->down->silence();
  world_.in(world_.between(0ms, 5ms), [this, wire] { tell_closed(wire, "connection reset"); });
  if (world_.chance(50)) {
    wire->up->silence();
    world_.in(world_.between(0ms, 2s), [this, session = wire->session] { server_.gone(*session); });
  } else {
    wire->up->stall(world_.chance(50) ? world_.between(0ms, 20ms) : world_.between(0ms, 4s));
    if (world_.chance(50)) wire->up->repeat();
  }
}

void Network::cut_one() {
  const auto wire = any();
  if (wire == nullptr) return;
  world_.trace("connection", std::to_string(*wire->session), "is cut");
  cut(wire);
}

void Network::silence_one() {
  const auto wire = any();
  if (wire == nullptr) return;
  world_.trace("connection", std::to_string(*wire->session), "falls silent");
  const uint64_t which = world_.below(3);
  if (which != 0) wire->up->silence();
  if (which != 1) wire->down->silence();
  world_.in(world_.between(5s, 20s), [this, session = wire->session] { server_.gone(*session); });
}

void Network::stall_one(Duration span) {
  const auto wire = any();
  if (wire == nullptr) return;
  world_.trace("connection", std::to_string(*wire->session), "stalls");
  if (world_.chance(70)) wire->up->stall(span);
  if (world_.chance(70)) wire->down->stall(span);
}

void Network::partition(const Process& process, Duration span) {
  world_.trace("network parts", process.name());
  partitions_.emplace_back(&process, world_.now() + span);
  for (const auto& weak : wires_) {
    const auto wire = weak.lock();
    if (wire == nullptr || wire->host != &process) continue;
    wire->up->stall(span);
    wire->down->stall(span);
  }
}

void Network::lose(const Process& process) {
  for (const auto& weak : wires_) {
    const auto wire = weak.lock();
    if (wire == nullptr || wire->host != &process) continue;
    wire->up->silence();
    wire->down->silence();
    world_.in(world_.between(5s, 20s), [this, session = wire->session] { server_.gone(*session); });
  }
}

}  // namespace lockc::sim
