#include "queue.h"

#include <array>
#include <memory>

#include "error.h"

namespace lockc::python {
namespace {

namespace py = pybind11;

void require_pending(lockc_status status, lockc_error* raw, const std::string* key) {
  const ErrorPtr error(raw);
  if (status != LOCKC_PENDING) raise(status, error, key);
}

}  // namespace

void Queue::acquire(uint64_t tag, std::shared_ptr<Request> request, int64_t wait_ms) {
  const lockc_acquire_options options = request->options_for(wait_ms, queue_.get(), tag);
  const std::string& key = request->key;
  lockc_error* error = nullptr;
  const lockc_status status =
      lockc_queue_acquire(queue_.get(), tag, nullptr, key.data(), key.size(), &options, &error);
  require_pending(status, error, &key);
  acquiring_.emplace(tag, std::move(request));
}

void Queue::extend(uint64_t tag, const Grant& grant, int64_t ttl_ms) {
  lockc_error* error = nullptr;
  const lockc_status status = lockc_queue_extend(queue_.get(), tag, grant.handle(), ttl_ms, &error);
  require_pending(status, error, &grant.key());
}

void Queue::release(uint64_t tag, Grant& grant) {
  grant.end();
  lockc_error* error = nullptr;
  const lockc_status status = lockc_queue_release(queue_.get(), tag, grant.handle(), &error);
  require_pending(status, error, &grant.key());
}

py::list Queue::poll() {
  std::array<lockc_completion, 64> batch;
  const int32_t taken =
      lockc_queue_poll(queue_.get(), batch.data(), static_cast<int32_t>(batch.size()), 0);
  if (taken < 0) raise(taken, ErrorPtr(), nullptr);
  py::list completions;
  for (int32_t i = 0; i < taken; ++i) completions.append(to_tuple(batch[static_cast<size_t>(i)]));
  return completions;
}

py::tuple Queue::to_tuple(const lockc_completion& done) {
  const ErrorPtr error(done.error);
  py::object grant = py::none();
  if (done.kind == LOCKC_DONE_ACQUIRE) {
    const auto request = acquiring_.extract(done.tag).mapped();
    if (done.lock != nullptr) {
      grant = py::cast(std::make_shared<Grant>(done.lock, request->key, nullptr));
    }
  }
  return py::make_tuple(done.tag, done.kind, done.status, grant, message_of(error));
}

}  // namespace lockc::python
