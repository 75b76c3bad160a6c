// What stands behind the opaque handles of the ABI. A handle belongs to the process that made it:
// in a forked child the old objects may be half changed, so they are neither locked, read nor freed
// there.
#pragma once

#include <lockc/lockc.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/process.h"
#include "client/client.h"

namespace lockc::capi {

// Forgets a reference without running what its end would run.
template <class T>
void leak(std::shared_ptr<T>& pointer) noexcept {
  alignas(std::shared_ptr<T>) std::byte place[sizeof pointer];
  new (place) std::shared_ptr<T>(std::move(pointer));
}

// A reference that is only good in the process that made it.
template <class T>
class OfProcess {
 public:
  explicit OfProcess(std::shared_ptr<T> object)
      : pid_(lockc::process_id()), object_(std::move(object)) {}
  ~OfProcess() {
    if (is_inherited()) leak(object_);
  }
  OfProcess(const OfProcess&) = delete;
  OfProcess& operator=(const OfProcess&) = delete;

  bool is_inherited() const { return lockc::process_id() != pid_; }
  const std::shared_ptr<T>& operator*() const { return object_; }
  T* operator->() const { return object_.get(); }

 private:
  const pid_t pid_;
  std::shared_ptr<T> object_;
};

}  // namespace lockc::capi

// The shell around a core that is replaced after fork.
struct lockc_client {
  explicit lockc_client(lockc::ClientOptions o) : options(std::move(o)) {}
  ~lockc_client() { delete core.load(); }
  lockc_client(const lockc_client&) = delete;
  lockc_client& operator=(const lockc_client&) = delete;

  // This process's core; opens a new one in a forked child.
  lockc::Result<std::shared_ptr<lockc::Client>> get();

  const lockc::ClientOptions options;
  std::atomic<lockc::capi::OfProcess<lockc::Client>*> core{nullptr};
};

struct lockc_lock {
  lockc_lock(std::shared_ptr<lockc::Client> c, std::shared_ptr<lockc::Grant> g)
      : client(std::move(c)), grant(std::move(g)) {}
  // A handle of grant, which goes back where memory for the handle is short.
  static lockc_lock* make(const std::shared_ptr<lockc::Client>& client,
                          std::shared_ptr<lockc::Grant> grant);

  const lockc::capi::OfProcess<lockc::Client> client;
  const lockc::capi::OfProcess<lockc::Grant> grant;
};

struct lockc_queue {
  explicit lockc_queue(std::shared_ptr<lockc::Client> c)
      : client(std::move(c)), queue(std::make_shared<lockc::CompletionQueue>()) {}

  const lockc::capi::OfProcess<lockc::Client> client;
  const lockc::capi::OfProcess<lockc::CompletionQueue> queue;
};

struct lockc_text {
  std::string text;
};

struct lockc_fence {
  std::atomic<uint64_t> largest{0};
};

struct lockc_record {
  lockc::Record record;
};

namespace lockc::capi {

inline Error forked_error() {
  return {Status::kForked, "this handle was made before fork(), in the parent process"};
}
inline Error closed_error() { return {Status::kClosed, "the client is closed"}; }
inline Error null_error(const char* name) {
  return {Status::kInvalid, std::string(name) + " is NULL"};
}

// This process's core of the caller's client.
inline Result<std::shared_ptr<Client>> core_of(lockc_client* client) {
  if (client == nullptr) return null_error("client");
  return client->get();
}

// What a call about one key is about.
struct Subject {
  std::shared_ptr<Client> client;
  Key key;
};
Result<Subject> read_subject(lockc_client* client, const char* key, size_t key_len);

// The caller's options in the core's words, every rule checked.
Result<AcquireRequest> read_request(const Client& client, const char* key, size_t key_len,
                                    const lockc_acquire_options* options);

}  // namespace lockc::capi
