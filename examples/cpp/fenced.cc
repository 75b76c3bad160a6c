// Saves under a lock, with the token by which the record refuses a writer that was overtaken.
#include <iostream>
#include <lockc/lockc.hpp>

int main() {
  try {
    lockc::Client client;
    lockc::AcquireOptions options;
    options.wait = lockc::Duration(2500);
    lockc::Lock lock = client.acquire("orders:42", options);
    lockc::WriteOptions fenced;
    fenced.token = lock.token();
    client.write("orders:42:data", "paid", fenced);
    std::cout << "saved order 42 with fencing token " << lock.token() << "\n";
    return lock.release() ? 0 : 1;
  } catch (const lockc::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
