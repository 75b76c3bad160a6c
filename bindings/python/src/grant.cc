#include "grant.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "gil.h"
#include "slice.h"

namespace lockc::python {
namespace {

namespace py = pybind11;

void warn_unreleased(const std::string& key) {
  if (Py_IsInitialized() == 0) return;
  const py::error_scope keep;  // a destructor may run while an exception is on its way
  const py::bytes bytes(key);
  if (PyErr_WarnFormat(PyExc_ResourceWarning, 1, "lock %R was dropped while it was held",
                       bytes.ptr()) != 0) {
    PyErr_WriteUnraisable(bytes.ptr());
  }
}

}  // namespace

Grant::Grant(lockc_lock* lock, std::string key, std::shared_ptr<Losses> losses)
    : lock_(lock), key_(std::move(key)), losses_(std::move(losses)) {}

Grant::~Grant() {
  if (!ended_ && remaining_ms() > 0) warn_unreleased(key_);
  const int32_t reason = lost_reason();
  if (losses_ != nullptr && reason != LOCKC_LOST_NOT && reason != LOCKC_LOST_FORKED) {
    losses_->drain();
  }
  lockc_lock_free(lock_);
}

bool Grant::is_lost() const {
  return lost_reason() != LOCKC_LOST_NOT || (!ended_ && remaining_ms() == 0);
}

bool Grant::wait_lost(int64_t timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  bool over = false;
  // Its reason comes before `losses_` is looked at, whose mutex may stay locked after a fork.
  while (lost_reason() == LOCKC_LOST_NOT) {
    const uint64_t seen = losses_->news();
    if (lost_reason() != LOCKC_LOST_NOT) break;
    if (ended_) return false;
    // The validity ends a moment before the client tells why.
    const bool was_over = std::exchange(over, remaining_ms() == 0);
    if (was_over) break;
    int64_t slice = kSliceMs;
    if (timeout_ms >= 0) {
      const auto passed =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
      const int64_t left = timeout_ms - passed.count();
      if (left <= 0) return false;
      slice = std::min(slice, left);
    }
    without_gil([&] { losses_->wait(seen, static_cast<int>(slice)); });
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return true;
}

void Grant::extend(int64_t ttl_ms) {
  lockc_error* raw = nullptr;
  const lockc_status status = without_gil([&] { return lockc_lock_extend(lock_, ttl_ms, &raw); });
  const ErrorPtr error(raw);
  if (status != LOCKC_OK) raise(status, error, &key_);
}

bool Grant::release() {
  ended_ = true;
  lockc_error* raw = nullptr;
  const lockc_status status = without_gil([&] { return lockc_lock_release(lock_, &raw); });
  return was_ours(status, ErrorPtr(raw));
}

bool Grant::release_nowait() {
  ended_ = true;
  lockc_error* raw = nullptr;
  const lockc_status status = lockc_lock_release_nowait(lock_, &raw);
  if (losses_ != nullptr && status != LOCKC_E_FORKED) losses_->drain();  // of earlier ones
  return was_ours(status, ErrorPtr(raw));
}

bool Grant::was_ours(lockc_status status, const ErrorPtr& error) {
  if (losses_ != nullptr && status != LOCKC_E_FORKED) losses_->tell();
  if (status == LOCKC_OK) return true;
  if (status == LOCKC_LOST) return false;
  raise(status, error, &key_);
}

}  // namespace lockc::python
