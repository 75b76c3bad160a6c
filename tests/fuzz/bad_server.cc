#include "bad_server.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "check.h"

namespace lockc::fuzz {

using namespace test;

BadServer::Peer::~Peer() { ::close(fd); }

BadServer::BadServer() {
  folder_ = (std::filesystem::temp_directory_path() / "lockc-fuzz-XXXXXX").string();
  must(::mkdtemp(folder_.data()) != nullptr, "there is a place for the socket");
  path_ = folder_ + "/socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  must(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
           ::listen(listener_, SOMAXCONN) == 0,
       "the server can listen");
  end_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { serve(); });
}

BadServer::~BadServer() {
  ::eventfd_write(end_, 1);
  thread_.join();
  ::close(listener_);
  ::close(end_);
  std::filesystem::remove_all(folder_);
}

void BadServer::begin(std::string_view orders) {
  const std::lock_guard lock(mutex_);
  for (const auto& peer : peers_) hang_up(*peer);
  locks_ = std::make_unique<LockModel>([this](const std::string& message) { publish(message); });
  orders_ = orders;
  next_order_ = errors_ = 0;
}

void BadServer::serve() {
  for (;;) {
    std::vector<pollfd> entries = {{end_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& peer : peers_) entries.push_back({peer->fd, POLLIN, 0});
    ::poll(entries.data(), entries.size(), -1);
    const std::lock_guard lock(mutex_);
    if (entries[0].revents != 0) return;
    for (size_t i = peers_.size(); i > 0; --i) {
      if (entries[i + 1].revents != 0) read(*peers_[i - 1]);
    }
    std::erase_if(peers_, [](const auto& peer) { return peer->is_gone; });
    if (entries[1].revents != 0) {
      peers_.push_back(
          std::make_unique<Peer>(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)));
    }
  }
}

void BadServer::read(Peer& peer) {
  std::array<char, 16384> buffer;
  const ssize_t got = ::recv(peer.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got <= 0) {
    peer.is_gone = true;
    return;
  }
  must(peer.parser.feed({buffer.data(), static_cast<size_t>(got)}).ok(), "a request is RESP");
  for (;;) {
    const auto next = peer.parser.next();
    must(next.ok(), "a request is RESP");
    if (!*next) return;
    Request request;
    const resp::View view = (*next)->view();
    for (size_t i = 0; i < view.size(); ++i) request.emplace_back(view[i].text());
    take(peer, request);
  }
}

void BadServer::take(Peer& peer, const Request& request) {
  const auto call = read_call(nullptr, request);
  if (!call) return send(peer, reply_to(peer, request));
  if (call->script == &scripts::probe) return send(peer, integer(1));
  answer(peer, locks_->execute(*call));
}

void BadServer::answer(Peer& peer, const std::string& right) {
  static const std::array<std::string, 8> errors = {
      error("OOM x"),       error("LOADING x"),   error("READONLY x"),       error("NOPERM x"),
      error("ERR unhappy"), error("WRONGTYPE x"), error("ERR LOCKCFENCE x"), error("BUSY x")};
  switch (next_order_ < orders_.size() ? orders_[next_order_++] : '.') {
    case 'e':
      return send(peer, errors[errors_++ % errors.size()]);
    case 's':
      return send(peer, error("NOSCRIPT x"));
    case 'w':
      return send(peer, array({bulk("nonsense"), array({})}));
    case 'n':
      return;
    case 'h':
      send(peer, right.substr(0, right.size() / 2));
      return hang_up(peer);
    case 'c':
      return hang_up(peer);
    case '2':
      return send(peer, right + right);
    case 'x':
      return send(peer, "HTTP/1.1 400 Bad Request\r\n\r\n");
    case 'm':
      publish("lc1:nobody:1:x:30000:8 9 1 0");
      return send(peer, right);
    default:
      return send(peer, right);
  }
}

std::string BadServer::reply_to(Peer& peer, const Request& request) {
  const std::string& name = request.at(0);
  if (name == "INFO") return bulk("redis_version:7.0.15\r\nrun_id:r\r\n");
  if (name == "CLIENT" && request.at(1) == "ID") return integer(peer.fd);
  if (name == "CLIENT" && request.at(1) == "LIST") return bulk("");
  if (name == "PING") return array({bulk("pong"), bulk("")});
  if (name == "SUBSCRIBE") {
    if (peer.channel.empty()) peer.channel = request.at(1);
    return array({bulk("subscribe"), bulk(request.at(1)), integer(1)});
  }
  if (name == "UNSUBSCRIBE") return array({bulk("unsubscribe"), bulk(request.at(1)), integer(1)});
  return status("OK");
}

// All peers are one client's, so whoever subscribed is meant.
void BadServer::publish(const std::string& message) {
  for (const auto& peer : peers_) {
    if (peer->channel.empty()) continue;
    send(*peer, array({bulk("message"), bulk(peer->channel), bulk(message)}));
  }
}

// A peer that does not read loses what it is told.
void BadServer::send(const Peer& peer, std::string_view bytes) {
  [[maybe_unused]] const auto sent =
      ::send(peer.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void BadServer::hang_up(const Peer& peer) { ::shutdown(peer.fd, SHUT_RDWR); }

}  // namespace lockc::fuzz
