#include "short_memory.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> armed{false};
std::atomic<bool> for_good{false};
std::atomic<long> left{0};  // requests that succeed until one fails
std::atomic<long> failed{0};

bool fails() {
  if (!armed.load()) return false;
  const long before = left.fetch_sub(1);
  if (before > 1 || (before < 1 && !for_good.load())) return false;
  ++failed;
  return true;
}

}  // namespace

void memory_fails(long n, int stays) {
  failed = 0;
  left = n;
  for_good = stays != 0;
  armed = true;
}

long memory_recovers(void) {
  armed = false;
  return failed;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void* operator new(std::size_t size) {
  void* memory = fails() ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#else

extern "C" {

// The C library's own, by the names under which it offers them to replacements.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

void* malloc(std::size_t size) noexcept {
  if (!fails()) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  if (!fails()) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}

void* realloc(void* memory, std::size_t size) noexcept {
  if (!fails()) return __libc_realloc(memory, size);
  errno = ENOMEM;
  return nullptr;
}

}  // extern "C"

#endif
