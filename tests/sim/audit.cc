#include "audit.h"

#include <algorithm>
#include <limits>

namespace lockc::sim {
namespace {

// KEYS of the scripts that know one lock.
constexpr size_t kLock = 0;
constexpr size_t kFence = 1;
constexpr size_t kQueue = 2;
constexpr size_t kSeen = 3;
constexpr size_t kAllKeys = 4;

const Dataset::Entry* find(const Dataset::Entries& entries, const std::string& key) {
  const auto found = entries.find(key);
  return found == entries.end() ? nullptr : &found->second;
}

// A key's text; "" where there is none.
std::string text_of(const Dataset::Entries& entries, const std::string& key) {
  const Dataset::Entry* entry = find(entries, key);
  const auto* text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
  return text == nullptr ? "" : *text;
}

const Dataset::SortedSet& set_of(const Dataset::Entries& entries, const std::string& key) {
  static const Dataset::SortedSet kNone;
  const Dataset::Entry* entry = find(entries, key);
  const auto* set = entry == nullptr ? nullptr : std::get_if<Dataset::SortedSet>(&entry->value);
  return set == nullptr ? kNone : *set;
}

const Dataset::Hash& hash_of(const Dataset::Entries& entries, const std::string& key) {
  static const Dataset::Hash kNone;
  const Dataset::Entry* entry = find(entries, key);
  const auto* hash = entry == nullptr ? nullptr : std::get_if<Dataset::Hash>(&entry->value);
  return hash == nullptr ? kNone : *hash;
}

bool is_shorter(const Dataset::Entry* is, const Dataset::Entry* was) {
  return is != nullptr && was != nullptr && is->expires_ms &&
         (!was->expires_ms || *is->expires_ms < *was->expires_ms);
}

bool may_grant(const Script* script) {
  return script == nullptr || script == &scripts::acquire || script == &scripts::release ||
         script == &scripts::requeue;
}

std::string client_of(const std::string& owner) {
  const size_t begin = owner.find(':') + 1;
  return owner.substr(begin, owner.find(':', begin) - begin);
}

}  // namespace

Audit::Audit(World& world, Server& server, Turns& turns, Records& records)
    : world_(world), server_(server), turns_(turns), records_(records) {
  server.set_witness(*this);
}

void Audit::fail(const Server::Step& step, const std::string& what) {
  world_.fail(std::string(step.script == nullptr ? "SET" : step.script->name) + ' ' + what);
}

void Audit::before(const Server::Step& step) {
  was_.clear();
  const Dataset::Entries& entries = server_.data().entries();
  for (const std::string& key : step.keys) {
    if (const Dataset::Entry* entry = find(entries, key)) was_.emplace(key, *entry);
  }
}

void Audit::after(const Server::Step& step) {
  if (step.script == &scripts::inspect || step.script == &scripts::record_read) {
    return check_unchanged(step);
  }
  if (step.script == &scripts::record_write) {
    const std::string& key = step.keys.at(0);
    return records_.executed(step, hash_of(was_, key), hash_of(server_.data().entries(), key));
  }
  if (step.script == &scripts::renew) {
    for (const std::string& key : step.keys) check_lock(step, key);
    return;
  }
  if (step.keys.empty()) return;
  check_lock(step, step.keys[kLock]);
  if (step.keys.size() < kAllKeys) return;
  check_fence(step.keys[kFence]);
  check_queue(step.keys[kLock], step.keys[kQueue]);
}

void Audit::check_unchanged(const Server::Step& step) {
  const Dataset::Entries& is = server_.data().entries();
  for (const std::string& key : step.keys) {
    const Dataset::Entry* entry = find(is, key);
    const Dataset::Entry* old = find(was_, key);
    const bool same = entry == nullptr || old == nullptr ? entry == old : *entry == *old;
    if (!same) fail(step, "changes " + key);
  }
}

void Audit::check_lock(const Server::Step& step, const std::string& key) {
  const Dataset::Entries& is = server_.data().entries();
  const std::string owner = text_of(is, key);
  const std::string former = text_of(was_, key);
  if (owner == former) {
    if (is_shorter(find(is, key), find(was_, key))) fail(step, "shortens " + key);
    return;
  }
  // Who asks names its own owner value first.
  const bool own = !step.arguments.empty() && step.arguments[0] == former;
  if (!former.empty() && !own) return fail(step, "takes " + key + " from " + former);
  if (owner.empty()) return;
  if (!may_grant(step.script)) return fail(step, "gives " + key + " to " + owner);
  check_grant(step, key, owner);
}

// Nobody who stands before it in the queue, and can be told, is passed over.
void Audit::check_grant(const Server::Step& step, const std::string& key,
                        const std::string& owner) {
  if (step.keys.size() < kAllKeys) return turns_.slipped_in(owner);
  const Dataset::SortedSet& queue = set_of(was_, step.keys[kQueue]);
  const Dataset::SortedSet& seen = set_of(was_, step.keys[kSeen]);
  const auto now = static_cast<double>(std::chrono::floor<Millis>(server_.wall()).count());
  const auto own = queue.find(owner);
  const double place = own == queue.end() ? std::numeric_limits<double>::infinity() : own->second;
  const bool gives_back = step.script != &scripts::acquire;
  for (const auto& [other, others_place] : queue) {
    if (other == owner || others_place >= place) continue;
    if (gives_back && other == step.arguments[0]) continue;
    const auto alive = seen.find(other);
    if (alive == seen.end() || alive->second < now || !is_live(other)) continue;
    return fail(step, "passes over " + other + " to " + owner);
  }
  turns_.given(key, owner);
}

bool Audit::is_live(const std::string& owner) const {
  return server_.listeners("lockc:wake:" + client_of(owner)) > 0;
}

void Audit::check_queue(const std::string& key, const std::string& queue) {
  const Dataset::SortedSet& were = set_of(was_, queue);
  const Dataset::SortedSet& are = set_of(server_.data().entries(), queue);
  for (const auto& [owner, place] : are) {
    if (were.contains(owner)) continue;
    const auto ahead = std::ranges::count_if(
        are, [place = place](const auto& other) { return other.second < place; });
    turns_.queued(key, owner, static_cast<size_t>(ahead));
  }
}

void Audit::check_fence(const std::string& fence) {
  const Dataset::Entries& is = server_.data().entries();
  const Dataset::Entry* old = find(was_, fence);
  const Dataset::Entry* now = find(is, fence);
  if (old == nullptr) return;
  if (now == nullptr) return world_.fail("deleted: " + fence);
  if (is_shorter(now, old)) world_.fail("shortened: " + fence);
  if (std::stoull(text_of(is, fence)) < std::stoull(text_of(was_, fence))) {
    world_.fail("set back: " + fence);
  }
}

}  // namespace lockc::sim
