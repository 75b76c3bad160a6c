// Any answers, to the log-in, to the scripts and on the wake channel, in any portions and order,
// with breaks and pauses; see session.h for what the bytes mean.
#include "session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lockc::fuzz::Session(lockc::fuzz::Input(data, size)).run();
  return 0;
}
