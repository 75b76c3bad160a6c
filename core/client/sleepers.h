// Threads that sleep on a word of their own. Who has news for them changes the word inside the loop
// and wakes them behind the turn: a wake is a system call, and the woken one may want the loop
// next.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

namespace lockc {

class Sleepers {
 public:
  // Sleeps while word is value; may return early.
  template <class Word>
  static void sleep(const std::atomic<Word>& word, Word value) {
    static_assert(sizeof(word) == sizeof(int));
    wait(&word, static_cast<int>(value));
  }

  // Inside the loop. The word may be gone when it is woken: nobody looks at it then.
  void wake_later(const void* word) noexcept;
  std::vector<const void*> take() { return std::exchange(woken_, {}); }
  // Outside.
  static void wake(const std::vector<const void*>& words);

 private:
  static void wait(const void* word, int value);

  std::vector<const void*> woken_;
};

}  // namespace lockc
