#include "base/process.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace lockc {
namespace {

// A page that the kernel zeroes in forked children (madvise(2), MADV_WIPEONFORK, Linux 4.14);
// nullptr where that cannot be had.
std::atomic<pid_t>* make_cache() {
  const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, size, MADV_WIPEONFORK) != 0) {
    ::munmap(page, size);
    return nullptr;
  }
  return new (page) std::atomic<pid_t>(0);
}

}  // namespace

pid_t process_id() {
  static std::atomic<pid_t>* const cache = make_cache();
  if (cache == nullptr) return ::getpid();
  pid_t pid = cache->load(std::memory_order_relaxed);
  if (pid == 0) {
    pid = ::getpid();
    cache->store(pid, std::memory_order_relaxed);
  }
  return pid;
}

}  // namespace lockc
