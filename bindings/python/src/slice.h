// How long a thread waits without a look at Python's signals.
#pragma once

namespace lockc::python {

// A signal that this thread receives ends its wait at once; one that another thread received (the
// kernel chooses) is seen after this time at the latest.
inline constexpr int kSliceMs = 100;

}  // namespace lockc::python
