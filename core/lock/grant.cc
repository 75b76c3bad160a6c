#include "lock/grant.h"

#include <cstring>
#include <utility>

#include "lock/claim.h"

namespace lockc {

Grant::Grant(Claim& claim, FencingToken token, Owed news)
    : token_(token),
      valid_until_(claim.valid_until()),
      client_(claim.client()),
      seq_(claim.seq()),
      ttl_(claim.terms().ttl),
      block_(claim.terms().block),
      claim_(claim.weak_from_this()),
      news_(std::move(news)) {}

Grant::~Grant() {
  news_.waive();
  delete[] owner_text_.load(std::memory_order_acquire);
}

std::string Grant::owner() const { return Owner(*client_, seq_, ttl_, block_).text(); }

// Of several threads that come here at once, one wins.
const char* Grant::owner_text() const {
  const char* text = owner_text_.load(std::memory_order_acquire);
  if (text != nullptr) return text;
  const std::string owner = this->owner();
  auto made = std::make_unique<char[]>(owner.size() + 1);
  std::memcpy(made.get(), owner.c_str(), owner.size() + 1);
  if (owner_text_.compare_exchange_strong(text, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return text;
}

}  // namespace lockc
