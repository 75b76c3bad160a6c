#include "error.h"

#include <cstring>

namespace lockc::python {
namespace {

namespace py = pybind11;

py::object decode(const char* text) {
  const auto length = static_cast<Py_ssize_t>(std::strlen(text));
  PyObject* const decoded = PyUnicode_DecodeUTF8(text, length, "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(decoded);
}

[[noreturn]] void raise_object(lockc_status status, const py::object& message,
                               const std::string* key) {
  const py::object key_bytes = key != nullptr ? py::object(py::bytes(*key)) : py::none();
  const py::object error =
      py::module_::import("lockc.errors").attr("from_status")(status, message, key_bytes);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace

py::object message_of(const ErrorPtr& error) {
  return error != nullptr ? decode(lockc_error_message(error.get())) : py::none();
}

void raise(lockc_status status, const ErrorPtr& error, const std::string* key) {
  raise_object(status, message_of(error), key);
}

void raise(lockc_status status, const char* message, const std::string* key) {
  raise_object(status, decode(message), key);
}

}  // namespace lockc::python
