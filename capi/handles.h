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

// Forgets references without running what their end would run.
template <class References>
void leak(References& references) noexcept {
  alignas(References) std::byte place[sizeof references];
  new (place) References(std::move(references));
}

// References that are only good in the process that made them.
template <class References>
class OfProcess {
 public:
  explicit OfProcess(References references)
      : pid_(lockc::process_id()), references_(std::move(references)) {}
  ~OfProcess() {
    if (is_inherited()) leak(references_);
  }
  OfProcess(const OfProcess&) = delete;
  OfProcess& operator=(const OfProcess&) = delete;

  bool is_inherited() const { return lockc::process_id() != pid_; }
  const References& operator*() const { return references_; }

 private:
  const pid_t pid_;
  References references_;
};

// A handle that belongs to a client: that, and what it is a handle of.
template <class T>
class ClientHandle {
 public:
  ClientHandle(std::shared_ptr<Client> client, std::shared_ptr<T> object)
      : references_({std::move(client), std::move(object)}) {}

  bool is_inherited() const { return references_.is_inherited(); }
  const std::shared_ptr<Client>& client() const { return (*references_).client; }

 protected:
  const std::shared_ptr<T>& object() const { return (*references_).object; }

 private:
  struct References {
    std::shared_ptr<Client> client;
    std::shared_ptr<T> object;
  };
  const OfProcess<References> references_;
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
  std::atomic<lockc::capi::OfProcess<std::shared_ptr<lockc::Client>>*> core{nullptr};
};

struct lockc_lock : lockc::capi::ClientHandle<lockc::Grant> {
  using ClientHandle::ClientHandle;
  // A handle of grant, which goes back where memory for the handle is short.
  static lockc_lock* make(const std::shared_ptr<lockc::Client>& client,
                          std::shared_ptr<lockc::Grant> grant);

  const std::shared_ptr<lockc::Grant>& grant() const { return object(); }
};

struct lockc_queue : lockc::capi::ClientHandle<lockc::CompletionQueue> {
  explicit lockc_queue(std::shared_ptr<lockc::Client> client)
      : ClientHandle(std::move(client), std::make_shared<lockc::CompletionQueue>()) {}

  const std::shared_ptr<lockc::CompletionQueue>& queue() const { return object(); }
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
