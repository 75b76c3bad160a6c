// What a lock object asks for: a key, and the options of an acquire in the units of the C ABI.
#pragma once

#include <lockc/lockc.h>

#include <cstdint>
#include <string>

namespace lockc::python {

struct Request {
  std::string key;
  lockc_acquire_options options;

  // The options of one acquire of this request, whose loss is told to `events` under `tag`.
  lockc_acquire_options options_for(int64_t wait_ms, lockc_queue* events, uint64_t tag) const {
    lockc_acquire_options one = options;
    one.wait_ms = wait_ms;
    one.events = events;
    one.events_tag = tag;
    return one;
  }
};

}  // namespace lockc::python
