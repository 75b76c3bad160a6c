// A server on a unix socket of this process, for one client at a time. It answers as a server does,
// except where its orders say otherwise: a letter for each request about a lock, until they end.
//
//   .  as it should    e  by an error, of several kinds in turn    w  by another shape
//   n  not at all      h  by half, then it closes                  c  it closes, and no answer
//   2  twice           x  by bytes of another protocol             s  it knows no such script
//   m  as it should, with a message before that nobody waits for
#pragma once

#include <poll.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lock_model.h"
#include "net/resp.h"

namespace lockc::fuzz {

class BadServer {
 public:
  BadServer();
  ~BadServer();
  BadServer(const BadServer&) = delete;
  BadServer& operator=(const BadServer&) = delete;

  std::string url() const { return "unix://" + path_; }
  // Forgets all it knows and follows these orders.
  void begin(std::string_view orders);

 private:
  struct Peer {
    explicit Peer(int descriptor) : fd(descriptor) {}
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    const int fd;
    resp::Parser parser;
    std::string channel;  // subscribed to; "": none
    bool is_gone = false;
  };

  void serve();
  void read(Peer& peer);
  void take(Peer& peer, const test::Request& request);
  void answer(Peer& peer, const std::string& right);
  static std::string reply_to(Peer& peer, const test::Request& request);
  void publish(const std::string& message);
  static void send(const Peer& peer, std::string_view bytes);
  static void hang_up(const Peer& peer);

  std::string folder_;
  std::string path_;
  int listener_ = -1;
  int end_ = -1;      // readable when serve() shall return
  std::mutex mutex_;  // of all below
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unique_ptr<LockModel> locks_;
  std::string orders_;
  size_t next_order_ = 0;
  size_t errors_ = 0;
  std::thread thread_;
};

}  // namespace lockc::fuzz
