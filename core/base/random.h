// Random numbers: names from the operating system's source, jitter from a small generator.
// Random is injected, so that a simulation repeats by its seed; one thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace lockc {

class Random {
 public:
  // Seeds itself from the operating system.
  Random();
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next();
  // Evenly spread over [low, high].
  Millis between(Millis low, Millis high);

 private:
  uint64_t state_;
};

// 128 bits of getrandom(2) in URL-safe base64: 22 characters. Throws std::system_error if the
// operating system has none.
std::string random_name();

}  // namespace lockc
