#include "lock/watchdog.h"

#include <algorithm>
#include <utility>

#include "lock/claim.h"

namespace lockc {

TimePoint Watchdog::next(TimePoint sent, Ttl ttl) const {
  const Duration third = Duration(ttl.millis()) / 3;
  const Duration half = Duration(ttl.millis()) / 2;
  const bool fixed = settings_.every > Millis::zero();
  const Duration period = fixed ? std::min(Duration(settings_.every), half) : third;
  const Duration grid = std::max<Duration>(period / 8, Millis(1));
  const Duration at = (sent + period).time_since_epoch();
  return TimePoint(at - at % grid);
}

void Watchdog::renew(std::shared_ptr<Claim> claim, Ttl ttl, Then then) {
  if (due_.empty()) loop_.defer([this] { flush(); });
  due_.push_back({std::move(claim), ttl, std::move(then)});
}

void Watchdog::flush() {
  const std::vector<Item> due = std::exchange(due_, {});
  const TimePoint sent = loop_.now();
  for (size_t begin = 0; begin < due.size(); begin += settings_.batch) {
    const size_t end = std::min(begin + settings_.batch, due.size());
    std::vector<Item> part(due.begin() + static_cast<std::ptrdiff_t>(begin),
                           due.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<Renewal> items;
    items.reserve(part.size());
    for (const Item& item : part) {
      items.push_back({item.claim->key().text(), item.claim->owner().text(), item.ttl});
    }
    store_.renew(items, [part = std::move(part), sent](const Result<std::vector<bool>>& ours) {
      for (size_t i = 0; i < part.size(); ++i) {
        part[i].then(sent, ours ? Result<bool>(bool{(*ours)[i]}) : Result<bool>(ours.error()));
      }
    });
  }
}

}  // namespace lockc
