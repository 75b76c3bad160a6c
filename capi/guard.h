// The exception border: every function of the ABI that may throw has its body in here.
#pragma once

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "error.h"

namespace lockc::capi {

// Runs body, which returns an Error (kOk for success), and tells its outcome as a status and *err.
template <class Body>
lockc_status guard(lockc_error** err, Body&& body) noexcept {
  if (err != nullptr) *err = nullptr;
  try {
    return tell(std::forward<Body>(body)(), err);
  } catch (const std::bad_alloc&) {
    return tell(Status::kNoMemory, "", err);
  } catch (const std::system_error& e) {  // no thread or descriptor to be had
    return tell(Status::kNoMemory, e.what(), err);
  } catch (const std::exception& e) {
    return tell(Status::kInternal, e.what(), err);
  } catch (...) {
    return tell(Status::kInternal, "an unknown exception", err);
  }
}

// For functions that have no status: what cannot be done is left undone.
template <class Body>
void guard(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
  } catch (...) {  // memory is short; all handles stay valid
  }
}

}  // namespace lockc::capi
