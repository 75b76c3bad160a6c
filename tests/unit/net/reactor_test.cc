// The real transport on real sockets of this machine.
#include "net/reactor.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <thread>
#include <vector>

namespace lockc {
namespace {

using namespace std::chrono_literals;

// A listening socket on a free port of the loopback interface.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(fd_, 8);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    endpoint.port = ntohs(address.sin_port);
  }
  ~Listener() { stop(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::shared_ptr<Socket> accept() const {
    return std::make_shared<Socket>(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
  }
  void stop() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

  Endpoint endpoint;

 private:
  int fd_;
};

struct ReactorTest : testing::Test, StreamEvents {
  void on_open() override { open = true; }
  void on_bytes(std::string_view more) override { bytes += more; }
  void on_writable() override { ++writable; }
  void on_closed(const std::string& why) override {
    closed = true;
    reason = why;
  }

  void connect() {
    stream = reactor.connect(listener.endpoint, *this);
    run_until([this] { return open || closed; });
  }
  // Turns of the reactor until done, bounded.
  void run_until(const std::function<bool()>& done) {
    const TimePoint end = clock.now() + 10s;
    while (!done() && clock.now() < end) {
      reactor.wait(clock.now() + 100ms, clock);
      reactor.dispatch();
    }
    ASSERT_TRUE(done());
  }
  // Whatever is due at once.
  void run_briefly() {
    for (int i = 0; i < 3; ++i) {
      reactor.wait(clock.now() + 10ms, clock);
      reactor.dispatch();
    }
  }
  std::string read_some(const Socket& socket) {
    std::array<char, 64> buffer;
    const long got = socket.read(buffer.data(), buffer.size(), 5s);
    return {buffer.data(), static_cast<size_t>(std::max(got, 0L))};
  }

  BootClock clock;
  Listener listener;
  Reactor reactor;
  std::unique_ptr<Stream> stream;
  bool open = false;
  bool closed = false;
  int writable = 0;
  std::string bytes;
  std::string reason;
};

TEST_F(ReactorTest, Connect_OpensAndCarriesBytesBothWays) {
  connect();
  ASSERT_TRUE(open);
  const auto peer = listener.accept();
  EXPECT_EQ(stream->write("PING"), 4U);
  EXPECT_EQ(read_some(*peer), "PING");
  stream->set_reading(true);
  ASSERT_TRUE(peer->write("PONG"));
  run_until([this] { return bytes == "PONG"; });
}

TEST_F(ReactorTest, Connect_NobodyListens_TellsWhyAndNotFromWithinTheCall) {
  const Endpoint nowhere = listener.endpoint;
  listener.stop();
  stream = reactor.connect(nowhere, *this);
  EXPECT_FALSE(closed);
  run_until([this] { return closed; });
  EXPECT_EQ(reason, "Connection refused");
}

TEST_F(ReactorTest, Connect_ByName_IsLookedUpOutsideTheLoop) {
  listener.endpoint.host = "localhost";
  connect();
  EXPECT_TRUE(open) << reason;
}

TEST_F(ReactorTest, Connect_NameThatIsNone_TellsWhy) {
  listener.endpoint.host = "no-such-host.invalid";
  connect();
  EXPECT_TRUE(closed);
  EXPECT_FALSE(reason.empty());
}

TEST_F(ReactorTest, Connect_UnixSocketThatIsNotThere_TellsWhy) {
  listener.endpoint.unix_socket = true;
  listener.endpoint.host = "/nonexistent/redis.sock";
  connect();
  EXPECT_EQ(reason, "No such file or directory");
}

TEST_F(ReactorTest, DestroyedWhileConnecting_TellsNothing) {
  listener.endpoint.host = "localhost";
  stream = reactor.connect(listener.endpoint, *this);
  stream.reset();
  run_briefly();
  EXPECT_FALSE(open || closed);
}

TEST_F(ReactorTest, PeerCloses_IsSeenAlsoWhileNothingIsRead) {
  connect();
  listener.accept().reset();
  run_until([this] { return closed; });
  EXPECT_EQ(reason, "the server closed the connection");
}

TEST_F(ReactorTest, NotReading_BytesWait) {
  connect();
  const auto peer = listener.accept();
  ASSERT_TRUE(peer->write("early"));
  run_briefly();
  EXPECT_EQ(bytes, "");
  stream->set_reading(true);
  run_until([this] { return bytes == "early"; });
}

TEST_F(ReactorTest, Borrowed_TheLoopLooksAwayUntilItIsGivenBack) {
  connect();
  const auto peer = listener.accept();
  const auto socket = stream->borrow();
  ASSERT_NE(socket, nullptr);
  EXPECT_EQ(stream->borrow(), nullptr) << "one at a time";
  ASSERT_TRUE(peer->write("mine"));
  run_briefly();
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(read_some(*socket), "mine");
  stream->give_back();
  stream->set_reading(true);
  ASSERT_TRUE(peer->write("yours"));
  run_until([this] { return bytes == "yours"; });
}

TEST_F(ReactorTest, Borrowed_DestroyedStream_EndsTheReader) {
  connect();
  const auto peer = listener.accept();
  const auto socket = stream->borrow();
  stream.reset();
  EXPECT_EQ(read_some(*socket), "");
  EXPECT_EQ(read_some(*peer), "");
}

TEST_F(ReactorTest, PeerClosedWhileBorrowed_IsToldWhenGivenBack) {
  connect();
  const auto socket = stream->borrow();
  listener.accept().reset();
  run_briefly();
  EXPECT_FALSE(closed);
  stream->give_back();
  run_until([this] { return closed; });
}

TEST_F(ReactorTest, FullSocket_TakesAPartAndTellsWhenThereIsRoom) {
  for (const bool borrowed : {false, true}) {
    SCOPED_TRACE(borrowed ? "borrowed" : "not borrowed");
    open = false;
    writable = 0;
    connect();
    const auto peer = listener.accept();
    const auto socket = borrowed ? stream->borrow() : nullptr;
    const std::string much(32U << 20U, 'x');
    const size_t taken = stream->write(much);
    ASSERT_LT(taken, much.size());
    EXPECT_EQ(stream->write("more"), 0U);
    std::vector<char> drain(taken);
    for (size_t left = taken; left > 0;) {
      const long got = peer->read(drain.data(), left, 5s);
      ASSERT_GT(got, 0);
      left -= static_cast<size_t>(got);
    }
    run_until([this] { return writable > 0; });
    EXPECT_EQ(stream->write("more"), 4U);
  }
}

TEST_F(ReactorTest, Wake_FromAnotherThread_EndsTheWait) {
  std::thread other([this] { reactor.wake(); });
  reactor.wait(kNever, clock);
  other.join();
  reactor.dispatch();
}

TEST_F(ReactorTest, Wait_EndsAtItsTimeAndNotBefore) {
  const TimePoint until = clock.now() + 20ms;
  reactor.wait(until, clock);
  EXPECT_GE(clock.now(), until);
}

TEST_F(ReactorTest, Post_RunsInTheNextDispatch) {
  bool ran = false;
  std::thread other([&] { reactor.post([&ran] { ran = true; }); });
  run_until([&ran] { return ran; });
  other.join();
}

}  // namespace
}  // namespace lockc
