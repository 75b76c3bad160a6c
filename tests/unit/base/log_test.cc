#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace lockc {
namespace {

std::string read_some(int fd) {
  std::array<char, 256> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  return {buffer.data(), got > 0 ? static_cast<size_t>(got) : 0};
}

TEST(Log, Warn_WritesOneLineToAPipe) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  Log(ends[1]).warn("the text");
  EXPECT_EQ(read_some(ends[0]), "lockc: the text\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Log, Warn_TextWithControlCharacters_IsOneLine) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  Log(ends[1]).warn("refused\nlockc: all is well\r\x1b[2J");
  EXPECT_EQ(read_some(ends[0]), "lockc: refused lockc: all is well  [2J\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Log, Warn_ClosedSocket_RaisesNoSignal) {
  std::array<int, 2> ends;
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  ::close(ends[0]);
  Log(ends[1]).warn("nobody reads this");
  ::close(ends[1]);
}

TEST(Log, Warn_FullSocket_LosesTheLineRatherThanBlocking) {
  std::array<int, 2> ends;
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const std::string chunk(4096, 'x');
  while (::send(ends[1], chunk.data(), chunk.size(), MSG_DONTWAIT) > 0) {
  }
  Log(ends[1]).warn("one too many");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Log, Warn_NoDescriptor_IsSilent) { Log(0).warn("nowhere"); }

}  // namespace
}  // namespace lockc
