#include "plain_client.h"

#include <string_view>
#include <utility>
#include <vector>

#include "net/resp.h"

namespace lockc::sim {

void PlainClient::act() {
  if (habits_.calm) return server_.gone(session_);
  if (session_ == 0 && server_.is_up()) {
    session_ = server_.accept({[this](const std::string& bytes) {
                                 world_.in(world_.between(0ms, 2ms), [this, bytes] {
                                   if (on_reply_) std::exchange(on_reply_, nullptr)(bytes);
                                 });
                               },
                               [this] { session_ = 0; }});
  }
  if (session_ != 0) acquire();
  world_.in(world_.between(50ms, 2s), [this] { act(); });
}

void PlainClient::acquire() {
  const std::string key = "key-" + std::to_string(world_.below(habits_.keys));
  const Millis ttl = std::chrono::floor<Millis>(world_.between(50ms, 500ms));
  const TimePoint until = world_.now() + Duration(ttl) * 99 / 100 - 2ms;
  const std::string owner = "plain:" + std::to_string(++acquires_);
  on_reply_ = [this, key, owner, until](const std::string& reply) {
    if (reply != "+OK\r\n" || world_.now() >= until) return;
    const auto released = judge_.holders.plain_granted(key, owner, until);
    if (world_.chance(50)) return;
    world_.in(world_.between(0ms, 40ms), [this, key, owner, released] {
      *released = true;
      release(key, owner);
    });
  };
  send({"SET", key, owner, "NX", "PX", std::to_string(ttl.count())});
}

void PlainClient::release(const std::string& key, const std::string& owner) {
  if (session_ == 0) return;
  on_reply_ = nullptr;
  send({"EVAL",
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end", "1",
        key, owner});
}

void PlainClient::send(const Arguments& request) {
  const std::vector<std::string_view> views(request.begin(), request.end());
  std::string bytes;
  resp::append_request(bytes, views);
  world_.in(world_.between(0ms, 2ms),
            [this, session = session_, bytes] { server_.receive(session, bytes); });
}

}  // namespace lockc::sim
