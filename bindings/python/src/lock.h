// A lock object: one request that is made again and again, and holds at most one grant at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "client.h"
#include "error.h"
#include "grant.h"
#include "request.h"

namespace lockc::python {

// The GIL guards the members, so that two threads that share an object can't both pass the check.
class Lock {
 public:
  Lock(std::shared_ptr<Client> client, std::shared_ptr<Request> request)
      : client_(std::move(client)), request_(std::move(request)) {}

  const std::string& key() const { return request_->key; }
  // The last grant, also when it has ended; null before the first.
  const std::shared_ptr<Grant>& grant() const { return grant_; }

  std::shared_ptr<Grant> acquire(int64_t wait_ms) {
    if (acquiring_ || in_use()) {
      raise(LOCKC_E_INVALID, "this lock object is in use: release it first, or make another one",
            &request_->key);
    }
    const Acquiring mark(acquiring_);
    grant_ = client_->acquire(*request_, wait_ms);
    return grant_;
  }

 private:
  struct Acquiring {
    explicit Acquiring(bool& flag) : flag_(flag) { flag_ = true; }
    ~Acquiring() { flag_ = false; }
    bool& flag_;
  };

  // A lost grant counts until it is released: else its holder's late release would end the next
  // one.
  bool in_use() const {
    return grant_ != nullptr && !grant_->is_ended() && grant_->lost_reason() != LOCKC_LOST_FORKED;
  }

  const std::shared_ptr<Client> client_;
  const std::shared_ptr<Request> request_;
  std::shared_ptr<Grant> grant_;
  bool acquiring_ = false;
};

}  // namespace lockc::python
