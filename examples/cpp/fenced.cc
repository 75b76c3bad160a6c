// Does something under a lock, and hands on the token by which a store can refuse a late writer.
#include <iostream>
#include <lockc/lockc.hpp>

int main() {
  try {
    lockc::Client client;
    lockc::AcquireOptions options;
    options.wait = lockc::Duration(2500);
    lockc::Lock lock = client.acquire("orders:42", options);
    std::cout << "saving order 42 with fencing token " << lock.token() << "\n";
    return lock.release() ? 0 : 1;
  } catch (const lockc::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
