// From a status of the C ABI to an exception of lockc.errors. All of it needs the GIL.
#pragma once

#include <lockc/lockc.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>

namespace lockc::python {

struct ErrorFree {
  void operator()(lockc_error* error) const { lockc_error_free(error); }
};
using ErrorPtr = std::unique_ptr<lockc_error, ErrorFree>;

// Raises the class of `status`. Its text is the one of `error`, or where there is none that of the
// class; its key is `key`, if not null.
[[noreturn]] void raise(lockc_status status, const ErrorPtr& error, const std::string* key);

// The same with a text made here.
[[noreturn]] void raise(lockc_status status, const char* message, const std::string* key);

// The text of `error` as str, whatever bytes a quoted key brought into it; None without an error.
pybind11::object message_of(const ErrorPtr& error);

}  // namespace lockc::python
