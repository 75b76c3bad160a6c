// How this module leaves the interpreter for a call that may block.
#pragma once

#include <Python.h>

#include <type_traits>

namespace lockc::python {

// Runs `call`, which must neither throw nor touch Python, with the GIL released.
//
// Not a scope guard, because taking the GIL back may end this thread: until Python 3.13 a daemon
// thread that returns into a finalizing interpreter is unwound from within PyEval_RestoreThread,
// and an unwind out of a destructor would terminate the process.
template <class Call>
auto without_gil(Call call) {
  PyThreadState* const state = PyEval_SaveThread();
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    PyEval_RestoreThread(state);
  } else {
    auto result = call();
    PyEval_RestoreThread(state);
    return result;
  }
}

}  // namespace lockc::python
