#include "net/reactor.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "net/socket_stream.h"

namespace lockc {
namespace {

int checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

constexpr uint64_t kMailboxSerial = 0;

}  // namespace

struct Reactor::Mailbox {
  Mailbox() : event(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}
  ~Mailbox() { ::close(event); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void ring() const {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);  // full is rung as well
  }

  const int event;
  std::mutex mutex;
  std::vector<std::function<void()>> tasks;
  bool open = true;  // the reactor lives
};

Reactor::Reactor()
    : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      mailbox_(std::make_shared<Mailbox>()) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kMailboxSerial;
  checked(::epoll_ctl(epoll_, EPOLL_CTL_ADD, mailbox_->event, &event), "epoll_ctl");
}

Reactor::~Reactor() {
  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->open = false;
  mailbox_->tasks.clear();
  ::close(epoll_);
}

std::unique_ptr<Stream> Reactor::connect(const Endpoint& endpoint, StreamEvents& events) {
  auto stream = std::make_unique<SocketStream>(*this, next_serial_++, events);
  Addresses addresses = resolve_literal(endpoint);
  if (!addresses.list.empty()) {
    stream->connect(std::move(addresses));
    return stream;
  }
  auto tell = [this, mailbox = mailbox_, serial = stream->serial()](Addresses found) {
    const std::lock_guard lock(mailbox->mutex);
    if (!mailbox->open) return;
    mailbox->tasks.emplace_back([this, serial, found = std::move(found)] {
      const auto stream_entry = streams_.find(serial);
      if (stream_entry != streams_.end()) stream_entry->second->connect(found);
    });
    mailbox->ring();
  };
  try {
    resolve_name(endpoint, std::move(tell));
  } catch (const std::system_error& no_thread) {
    stream->connect({{}, no_thread.what()});
  }
  return stream;
}

void Reactor::wait(TimePoint until, const Clock& clock) {
  int timeout = -1;
  if (until != kNever) {
    const auto left = std::chrono::ceil<Millis>(until - clock.now()).count();
    timeout = static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
  }
  const int count = ::epoll_wait(epoll_, ready_.data(), static_cast<int>(ready_.size()), timeout);
  ready_count_ = static_cast<size_t>(std::max(count, 0));
}

void Reactor::dispatch() {
  for (const epoll_event& ready : std::span(ready_).first(std::exchange(ready_count_, 0))) {
    const uint64_t serial = ready.data.u64;
    if (serial == kMailboxSerial) {
      uint64_t count = 0;
      [[maybe_unused]] const auto got = ::read(mailbox_->event, &count, sizeof count);
      std::vector<std::function<void()>> tasks;
      {
        const std::lock_guard lock(mailbox_->mutex);
        tasks.swap(mailbox_->tasks);
      }
      for (const auto& task : tasks) task();
      continue;
    }
    const auto entry = streams_.find(serial);
    if (entry != streams_.end()) entry->second->on_events(ready.events);
  }
}

void Reactor::wake() { mailbox_->ring(); }

void Reactor::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->tasks.push_back(std::move(task));
  }
  mailbox_->ring();
}

}  // namespace lockc
