#include "dataset.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <unordered_map>
#include <vector>

namespace lockc::sim {
namespace {

using Member = std::pair<double, std::string>;

std::string score_text(double score) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", score);
  return text;
}

std::vector<Member> in_order(const Dataset::SortedSet& set) {
  std::vector<Member> members;
  for (const auto& [member, score] : set) members.emplace_back(score, member);
  std::ranges::sort(members);
  return members;
}

// What has no letter of its own looks at the type by itself, or takes any.
bool suits(const std::string& command, const Dataset::Entry& entry) {
  if (command[0] == 'Z') return std::holds_alternative<Dataset::SortedSet>(entry.value);
  if (command[0] == 'H') return std::holds_alternative<Dataset::Hash>(entry.value);
  return true;
}

Reply wrong_type() {
  return Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");
}

}  // namespace

std::optional<Reply> Dataset::run(const Arguments& request) {
  expire();
  static const std::unordered_map<std::string, Command> kCommands = {
      {"GET", &Dataset::get},         {"SET", &Dataset::set},
      {"INCRBY", &Dataset::incrby},   {"DEL", &Dataset::del},
      {"EXISTS", &Dataset::exists},   {"TYPE", &Dataset::type},
      {"PEXPIRE", &Dataset::pexpire}, {"PTTL", &Dataset::pttl},
      {"HSET", &Dataset::hset},       {"HMGET", &Dataset::hmget},
      {"ZADD", &Dataset::zadd},       {"ZREM", &Dataset::zrem},
      {"ZCARD", &Dataset::zcard},     {"ZSCORE", &Dataset::zscore},
      {"ZMSCORE", &Dataset::zmscore}, {"ZRANK", &Dataset::zrank},
      {"ZRANGE", &Dataset::zrange},   {"ZRANGEBYSCORE", &Dataset::zrangebyscore},
  };
  const auto found = kCommands.find(request.at(0));
  if (found == kCommands.end()) return std::nullopt;
  const Entry* entry = find(request.at(1));
  if (entry != nullptr && !suits(request[0], *entry)) return wrong_type();
  return (this->*found->second)(request);
}

bool Dataset::is_write(const std::string& name) {
  return name == "SET" || name == "INCRBY" || name == "DEL" || name == "PEXPIRE" ||
         name == "HSET" || name == "ZADD" || name == "ZREM";
}

void Dataset::expire() {
  std::erase_if(entries_, [this](const auto& item) {
    const bool over = item.second.expires_ms && now_ms_ > *item.second.expires_ms;
    if (over && on_gone) on_gone(item.first, "expired");
    return over;
  });
}

Dataset::Entry* Dataset::find(const std::string& key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

Dataset::SortedSet* Dataset::find_set(const std::string& key) {
  Entry* entry = find(key);
  return entry == nullptr ? nullptr : &std::get<SortedSet>(entry->value);
}

Reply Dataset::get(const Arguments& request) {
  const Entry* entry = find(request.at(1));
  if (entry == nullptr) return Reply::nil();
  const auto* text = std::get_if<std::string>(&entry->value);
  return text == nullptr ? wrong_type() : Reply::bulk(*text);
}

// SET key value [NX] PX ms
Reply Dataset::set(const Arguments& request) {
  const bool if_absent = request.at(3) == "NX";
  if (if_absent && find(request[1]) != nullptr) return Reply::nil();
  const int64_t ms = std::stoll(request.at(if_absent ? 5 : 4));
  if (ms <= 0) return Reply::error("ERR invalid expire time in 'set' command");
  entries_[request[1]] = Entry{request[2], now_ms_ + ms};
  return Reply::status("OK");
}

Reply Dataset::incrby(const Arguments& request) {
  Entry& entry = entries_[request.at(1)];
  auto* text = std::get_if<std::string>(&entry.value);
  if (text == nullptr) return wrong_type();
  const int64_t number = (text->empty() ? 0 : std::stoll(*text)) + std::stoll(request.at(2));
  *text = std::to_string(number);
  return Reply::integer(number);
}

Reply Dataset::del(const Arguments& request) {
  const bool there = entries_.erase(request.at(1)) > 0;
  if (there && on_gone) on_gone(request[1], "del");
  return Reply::integer(there ? 1 : 0);
}

Reply Dataset::exists(const Arguments& request) {
  int64_t count = 0;
  for (size_t i = 1; i < request.size(); ++i) count += find(request[i]) != nullptr ? 1 : 0;
  return Reply::integer(count);
}

Reply Dataset::type(const Arguments& request) {
  const Entry* entry = find(request.at(1));
  if (entry == nullptr) return Reply::status("none");
  static constexpr const char* kNames[] = {"string", "zset", "hash"};
  return Reply::status(kNames[entry->value.index()]);
}

Reply Dataset::pexpire(const Arguments& request) {
  Entry* entry = find(request.at(1));
  if (entry == nullptr) return Reply::integer(0);
  const int64_t expires_ms = now_ms_ + std::stoll(request.at(2));
  const bool only_later = request.size() > 3 && request[3] == "GT";
  if (only_later && (!entry->expires_ms || expires_ms <= *entry->expires_ms)) {
    return Reply::integer(0);
  }
  entry->expires_ms = expires_ms;
  return Reply::integer(1);
}

Reply Dataset::pttl(const Arguments& request) {
  const Entry* entry = find(request.at(1));
  if (entry == nullptr) return Reply::integer(-2);
  return Reply::integer(entry->expires_ms ? *entry->expires_ms - now_ms_ : -1);
}

// HSET key field value ..
Reply Dataset::hset(const Arguments& request) {
  Entry* entry = find(request.at(1));
  if (entry == nullptr) entry = &(entries_[request[1]] = Entry{Hash{}});
  auto& hash = std::get<Hash>(entry->value);
  int64_t fresh = 0;
  for (size_t i = 2; i + 1 < request.size(); i += 2) {
    fresh += hash.insert_or_assign(request[i], request[i + 1]).second ? 1 : 0;
  }
  return Reply::integer(fresh);
}

Reply Dataset::hmget(const Arguments& request) {
  const Entry* entry = find(request.at(1));
  static const Hash kNone;
  const Hash& hash = entry == nullptr ? kNone : std::get<Hash>(entry->value);
  Reply values = Reply::array({});
  for (size_t i = 2; i < request.size(); ++i) {
    const auto found = hash.find(request[i]);
    values.elements.push_back(found == hash.end() ? Reply::nil() : Reply::bulk(found->second));
  }
  return values;
}

Reply Dataset::zadd(const Arguments& request) {
  Entry* entry = find(request.at(1));
  if (entry == nullptr) entry = &(entries_[request[1]] = Entry{SortedSet{}});
  auto& set = std::get<SortedSet>(entry->value);
  const bool fresh = !set.contains(request.at(3));
  set[request[3]] = std::stod(request.at(2));
  return Reply::integer(fresh ? 1 : 0);
}

Reply Dataset::zrem(const Arguments& request) {
  SortedSet* set = find_set(request.at(1));
  if (set == nullptr) return Reply::integer(0);
  int64_t removed = 0;
  for (size_t i = 2; i < request.size(); ++i)
    removed += static_cast<int64_t>(set->erase(request[i]));
  if (set->empty()) entries_.erase(request[1]);
  return Reply::integer(removed);
}

Reply Dataset::zcard(const Arguments& request) {
  const SortedSet* set = find_set(request.at(1));
  return Reply::integer(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
}

Reply Dataset::zscore(const Arguments& request) {
  const SortedSet* set = find_set(request.at(1));
  if (set == nullptr || !set->contains(request.at(2))) return Reply::nil();
  return Reply::bulk(score_text(set->at(request[2])));
}

Reply Dataset::zmscore(const Arguments& request) {
  Reply scores = Reply::array({});
  for (size_t i = 2; i < request.size(); ++i) {
    scores.elements.push_back(zscore({"ZSCORE", request[1], request[i]}));
  }
  return scores;
}

Reply Dataset::zrank(const Arguments& request) {
  const SortedSet* set = find_set(request.at(1));
  if (set == nullptr || !set->contains(request.at(2))) return Reply::nil();
  const auto members = in_order(*set);
  const auto at = std::ranges::find(members, request[2], &Member::second);
  return Reply::integer(at - members.begin());
}

// ZRANGE key first last [WITHSCORES]
Reply Dataset::zrange(const Arguments& request) {
  const SortedSet* set = find_set(request.at(1));
  Reply range = Reply::array({});
  if (set == nullptr) return range;
  const auto members = in_order(*set);
  const auto size = static_cast<int64_t>(members.size());
  const auto place = [size](int64_t index) { return index < 0 ? index + size : index; };
  const int64_t last = std::min(place(std::stoll(request.at(3))), size - 1);
  for (int64_t i = std::max<int64_t>(place(std::stoll(request.at(2))), 0); i <= last; ++i) {
    const auto& [score, member] = members[static_cast<size_t>(i)];
    range.elements.push_back(Reply::bulk(member));
    if (request.size() > 4) range.elements.push_back(Reply::bulk(score_text(score)));
  }
  return range;
}

// ZRANGEBYSCORE key -inf (max LIMIT 0 count
Reply Dataset::zrangebyscore(const Arguments& request) {
  const SortedSet* set = find_set(request.at(1));
  Reply range = Reply::array({});
  if (set == nullptr) return range;
  const double below = std::stod(request.at(3).substr(1));
  const auto limit = std::stoul(request.at(6));
  for (const auto& [score, member] : in_order(*set)) {
    if (score >= below || range.elements.size() == limit) break;
    range.elements.push_back(Reply::bulk(member));
  }
  return range;
}

}  // namespace lockc::sim
