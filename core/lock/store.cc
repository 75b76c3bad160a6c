#include "lock/store.h"

#include <array>

#include "lock/scripts.h"

namespace lockc {
namespace {

using resp::View;
using Texts = std::span<const std::string_view>;

Result<bool> read_flag(View reply, const Script& script) {
  if (reply.type() != View::Type::kInteger) return unexpected(script);
  return reply.integer() == 1;
}

Result<AcquireAnswer> read_grant(uint64_t first, int64_t count, const Script& script) {
  if (first == 0 || first >= FencingToken::kEnd || count < 1) return unexpected(script);
  AcquireAnswer answer;
  answer.kind = AcquireAnswer::Kind::kGranted;
  answer.first = first;
  answer.count = static_cast<uint32_t>(count);
  return answer;
}

// tokens: what the owner value asks for.
Result<AcquireAnswer> read_acquire(View reply, uint32_t tokens, const Script& script) {
  if (reply.type() == View::Type::kInteger) return read_grant(reply.number(), tokens, script);
  AcquireAnswer answer;
  switch (reply[0].integer(-1)) {
    case 1:
      return read_grant(reply[1].number(), reply[2].integer(0), script);
    case 2:
      if (reply.size() < 6) return unexpected(script);
      answer.kind = AcquireAnswer::Kind::kQueued;
      answer.pttl_ms = reply[1].integer(-1);
      answer.position = reply[2].number();
      answer.ticket = reply[3].text();
      answer.mark = reply[4].number(UINT64_MAX);  // unreadable: let no message count
      answer.lockc = reply[5].integer() == 1;
      return answer;
    case 0:
      if (reply.size() < 4) return unexpected(script);
      answer.pttl_ms = reply[1].integer(-1);
      answer.lockc = reply[3].integer() == 1;
      return answer;
    default:
      return unexpected(script);
  }
}

Result<Inspection> read_inspection(View reply) {
  if (reply.size() < 5) return unexpected(scripts::inspect);
  Inspection seen;
  seen.type = reply[0].text();
  seen.has_owner = reply[1].type() == View::Type::kString;
  seen.owner = reply[1].text();
  seen.pttl_ms = reply[2].integer(-2);
  seen.token = reply[3].number();
  const int64_t now_ms = std::max<int64_t>(reply[4].integer(), 0);
  for (size_t i = 5; i + 3 < reply.size(); i += 4) {
    // A ticket is the time of queueing in us, or one more than the ticket before it.
    const int64_t queued_ms = static_cast<int64_t>(reply[i + 1].number() / 1000);
    seen.queue.push_back({std::string(reply[i].text()), std::max<int64_t>(now_ms - queued_ms, 0),
                          reply[i + 3].integer() == 1});
  }
  return seen;
}

}  // namespace

void Store::acquire(const Named& named, bool wait, const std::string& ticket,
                    Then<AcquireAnswer> then) {
  const KeyNames names(named.key);
  const std::array<std::string_view, 4> arguments = {named.owner.text(), wait ? "1" : "0", ticket,
                                                     retention_};
  node_.run(scripts::acquire, names.all(), arguments, {named.route, named.route, named.follows},
            reading<AcquireAnswer>(
                [tokens = named.owner.tokens()](View reply) {
                  return read_acquire(reply, tokens, scripts::acquire);
                },
                std::move(then)));
}

void Store::set(const Named& named, Ttl ttl, Then<bool> then) {
  const std::string ms = std::to_string(ttl.millis().count());
  const std::array<std::string_view, 6> request = {
      "SET", named.key.text(), named.owner.text(), "NX", "PX", ms};
  node_.command(
      request, {named.route, named.route, named.follows},
      reading<bool>([](View r) { return Result<bool>(r.text() == "OK"); }, std::move(then)));
}

void Store::release(const Named& named, Then<bool> then) {
  const KeyNames names(named.key);
  const std::array<std::string_view, 2> arguments = {named.owner.text(), retention_};
  const auto read = [](View reply) {
    return read_flag(reply.type() == View::Type::kInteger ? reply : reply[0], scripts::release);
  };
  node_.run(scripts::release, names.all(), arguments, {named.route, named.route},
            reading<bool>(read, std::move(then)));
}

void Store::drop(const Named& named, Then<bool> then) {
  const std::array<std::string_view, 1> keys = {named.key.text()};
  const std::array<std::string_view, 1> arguments = {named.owner.text()};
  node_.run(scripts::drop, keys, arguments, {named.route, named.route},
            reading<bool>([](View r) { return read_flag(r, scripts::drop); }, std::move(then)));
}

void Store::requeue(const Named& named, const Named& next, Then<RequeueAnswer> then) {
  const KeyNames names(named.key);
  const std::array<std::string_view, 3> arguments = {named.owner.text(), next.owner.text(),
                                                     retention_};
  auto read = [tokens = next.owner.tokens()](View reply) -> Result<RequeueAnswer> {
    const auto ours = read_flag(reply[0], scripts::requeue);
    auto acquired = read_acquire(reply[1], tokens, scripts::requeue);
    if (!ours) return ours.error();
    if (!acquired) return acquired.error();
    return RequeueAnswer{*ours, std::move(*acquired)};
  };
  node_.run(scripts::requeue, names.all(), arguments, {named.route, next.route},
            reading<RequeueAnswer>(read, std::move(then)));
}

void Store::renew(const std::vector<Renewal>& items, Then<std::vector<bool>> then) {
  std::vector<std::string> ttls;
  ttls.reserve(items.size());
  std::vector<std::string_view> keys;
  std::vector<std::string_view> arguments;
  for (const Renewal& item : items) {
    keys.push_back(item.key);
    arguments.push_back(ttls.emplace_back(std::to_string(item.ttl.millis().count())));
    arguments.push_back(item.owner);
  }
  node_.run(scripts::renew, keys, arguments, {},
            reading<std::vector<bool>>(
                [count = items.size()](View reply) -> Result<std::vector<bool>> {
                  if (reply.type() != View::Type::kArray) return unexpected(scripts::renew);
                  std::vector<bool> ours(count, true);
                  for (size_t i = 0; i < reply.size(); ++i) {
                    const uint64_t position = reply[i].number();
                    if (position == 0 || position > count) return unexpected(scripts::renew);
                    ours[position - 1] = false;
                  }
                  return ours;
                },
                std::move(then)));
}

void Store::inspect(const KeyNames& names, Then<Inspection> then) {
  node_.run(scripts::inspect, names.all(), {}, {},
            reading<Inspection>(&read_inspection, std::move(then)));
}

void Store::probe(std::string_view channel, Then<bool> then) {
  const std::array<std::string_view, 1> arguments = {channel};
  node_.run(scripts::probe, {}, arguments, {},
            reading<bool>([](View r) { return read_flag(r, scripts::probe); }, std::move(then)));
}

void Store::give_back(std::string_view key, std::string_view owner) {
  const auto made = Key::make("", key);
  if (!made) return;
  const KeyNames names(*made);
  const std::array<std::string_view, 2> arguments = {owner, retention_};
  node_.run(scripts::release, names.all(), arguments, {}, [](const Result<View>&) {});
}

}  // namespace lockc
