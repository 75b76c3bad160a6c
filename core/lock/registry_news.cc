// What the registry hears from the server: of its wake channel, its grants by message, keys that
// are gone, and connections that stand again.
#include <charconv>
#include <string>

#include "lock/registry.h"

namespace lockc {

void Registry::on_channel_confirmed() {
  ask_all();
  store_.probe(wake_.channel(), [this](const Result<bool>& may_publish) {
    const bool told = !may_publish || *may_publish;
    const bool news = is_told_ && !told;
    is_told_ = told;
    if (!news) return;
    log_.warn("waiters poll, for this user may not publish in scripts");
    ask_all();
  });
}

std::shared_ptr<Claim> Registry::find_claim(std::string_view key, uint64_t seq) const {
  if (const auto found = others_.find(seq); found != others_.end()) return found->second;
  const auto found = entries_.find(std::string(key));
  if (found == entries_.end() || found->second.claim == nullptr) return nullptr;
  return found->second.claim->seq() == seq ? found->second.claim : nullptr;
}

// So they will stand in the server's queue as they came.
void Registry::ask_all() {
  for (const auto& claim : all_claims()) claim->on_channel_confirmed();
}

void Registry::on_channel_lost() {
  for (const auto& claim : all_claims()) claim->on_channel_lost();
}

void Registry::on_reconnected(bool server_changed) {
  if (server_changed) wake_.reset();
  for (const auto& claim : all_claims()) claim->on_reconnected();
}

void Registry::on_message(const WakeMessage& message) {
  // lc1:<client>:<seq>:...
  const std::string_view owner = message.owner;
  const size_t begin = owner.find(':', owner.find(':') + 1) + 1;
  uint64_t seq = 0;
  std::from_chars(owner.data() + begin, owner.data() + owner.size(), seq);
  const auto claim = find_claim(message.key, seq);
  if (claim != nullptr && claim->owner().text() == owner) {
    return claim->on_message(message.first, message.count);
  }
  if (message.first != 0) store_.give_back(message.key, owner);
}

void Registry::on_key_gone(std::string_view key) {
  for (const auto& claim : all_claims()) {
    if (claim->key().text() == key) claim->on_key_gone();
  }
}

}  // namespace lockc
