// A program of someone who has lockc installed: takes a lock, and gives it back.
#include <cinttypes>
#include <cstdio>
#include <lockc/lockc.hpp>

int main() {
  lockc::Client client;
  lockc::Lock lock = client.acquire("consumer");
  std::printf("version %06" PRIx32 ", token %" PRIu64 "\n", lockc_version(), lock.token());
  return lock.release() ? 0 : 1;
}
