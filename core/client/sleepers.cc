#include "client/sleepers.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

namespace lockc {
namespace {

// futex(2) itself: std::atomic::wait yields the processor several times before it sleeps, which
// many callers on few cores pay for. A word that is gone is EFAULT or somebody's spurious wake-up.
void futex(const void* word, int operation, int value) {
  ::syscall(SYS_futex, word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

void Sleepers::wait(const void* word, int value) { futex(word, FUTEX_WAIT_PRIVATE, value); }

void Sleepers::wake_later(const void* word) noexcept {
  try {
    woken_.push_back(word);
  } catch (const std::bad_alloc&) {
    futex(word, FUTEX_WAKE_PRIVATE, 1);
  }
}

void Sleepers::wake(const std::vector<const void*>& words) {
  for (const void* word : words) futex(word, FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace lockc
