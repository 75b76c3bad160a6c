// A program of someone who has lockc installed: takes a lock, and gives it back.
#include <iostream>
#include <lockc/lockc.hpp>

int main() {
  lockc::Client client;
  lockc::Lock lock = client.acquire("consumer");
  std::cout << "version 0" << std::hex << lockc_version() << ", token " << lock.token() << "\n";
  return lock.release() ? 0 : 1;
}
