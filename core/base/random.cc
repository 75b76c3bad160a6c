#include "base/random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace lockc {
namespace {

void fill(void* to, size_t size) {
  auto* bytes = static_cast<unsigned char*>(to);
  while (size > 0) {
    const ssize_t got = ::getrandom(bytes, size, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "getrandom");
    }
    bytes += got;
    size -= static_cast<size_t>(got);
  }
}

}  // namespace

Random::Random() : state_(0) { fill(&state_, sizeof state_); }

// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
uint64_t Random::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

Millis Random::between(Millis low, Millis high) {
  if (high <= low) return low;
  const auto span = static_cast<uint64_t>((high - low).count()) + 1;
  return low + Millis(static_cast<int64_t>(next() % span));
}

std::string random_name() {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 16> raw{};
  fill(raw.data(), raw.size());
  std::string name;
  uint32_t bits = 0;
  int have = 0;
  for (const unsigned char byte : raw) {
    bits = (bits << 8U) | byte;
    for (have += 8; have >= 6; have -= 6) name += kAlphabet[(bits >> (have - 6)) & 63U];
  }
  name += kAlphabet[(bits << (6 - have)) & 63U];
  return name;
}

}  // namespace lockc
