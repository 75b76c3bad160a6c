#include "caller.h"

#include <array>
#include <string>

#include "check.h"

namespace lockc::fuzz {
namespace {

constexpr int32_t kSoon = 5;
constexpr uint64_t kLossTags = uint64_t{1} << 32U;  // tags of losses, away from those of requests

std::string key_of(unsigned digit) { return std::to_string(digit % 3); }
std::string record_of(unsigned digit) { return "record " + key_of(digit); }

}  // namespace

Caller::Caller(lockc_client* client, lockc_fence* fence, Input input)
    : client_(client), fence_(fence), input_(input) {
  must(lockc_queue_open(&queue_, client_, nullptr) == LOCKC_OK, "a queue can be opened");
}

Caller::~Caller() {
  for (lockc_lock* lock : locks_) lockc_lock_free(lock);
  lockc_queue_close(queue_);
  lockc_record_free(record_);
}

void Caller::run() {
  constexpr int kMostSteps = 24;
  for (int i = 0; i < kMostSteps && !input_.empty(); ++i) step(input_.letter());
}

void Caller::finish() {
  poll(0);
  must(expected_.empty(), "each accepted request is completed when the client has been closed");
}

void Caller::step(char letter) {
  switch (letter) {
    case 'a':
    case 'w':
    case 'f':
    case 's':
    case 'u':
    case 't':
    case '2':
      return block_for(letter);
    case 'A':
    case 'W':
    case 'F':
    case 'N':
      return ask(letter);
    case 'r':
    case 'R':
    case 'e':
    case 'E':
    case 'o':
    case 'd':
      return end(letter);
    case 'g':
      return read();
    case 'c':
      return cancel();
    case 'p':
      return poll(0);
    case 'l':
      return poll(2);
    case 'q':
      return reopen();
    case 'i':
      return inspect();
    case 'v':
      return read_record();
    case 'x':
    case 'y':
    case 'z':
      return write_record(letter);
    case 'm':
      return show_fence();
    case 'K': {
      lockc_error* error = nullptr;
      return must_tell(lockc_client_connect(client_, kSoon, &error), error);
    }
    default:
      return;
  }
}

// ---- asking

lockc_acquire_options Caller::options_for(char letter) {
  lockc_acquire_options options{};
  options.struct_size = sizeof options;
  const bool one_try = letter == 'a' || letter == 'A';
  options.wait_ms = one_try ? 0 : letter == 'W' || letter == 'F' ? LOCKC_WAIT_FOREVER : kSoon;
  options.ttl_ms = letter == 't' ? 10 : 0;
  options.kind = letter == 'f' || letter == 'F' ? LOCKC_FAIR : LOCKC_EXCLUSIVE;
  options.flags = letter == 's' ? LOCKC_SPIN : letter == 'u' ? LOCKC_UNFENCED : 0;
  options.owner = letter == '2' ? 2 : 0;
  options.events = queue_;
  options.events_tag = kLossTags + next_tag_;
  return options;
}

void Caller::block_for(char letter) {
  const auto options = options_for(letter);
  const std::string key = key_of(input_.digit());
  ++next_tag_;
  lockc_lock* lock = nullptr;
  lockc_error* error = nullptr;
  const auto status =
      lockc_client_acquire(&lock, client_, key.data(), key.size(), &options, &error);
  must_tell(status, error);
  must((status == LOCKC_OK) == (lock != nullptr), "success brings a lock, and nothing else does");
  must(status != LOCKC_PENDING && status != LOCKC_CANCELLED, "who blocks gets an answer");
  if (lock != nullptr) locks_.push_back(lock);
}

uint64_t Caller::expect(int32_t kind, lockc_status status) {
  if (status == LOCKC_PENDING) expected_.emplace(next_tag_, kind);
  return next_tag_++;
}

void Caller::ask(char letter) {
  const auto options = options_for(letter);
  const std::string key = key_of(input_.digit());
  lockc_lock* lock = nullptr;
  lockc_error* error = nullptr;
  const auto status = lockc_queue_acquire(queue_, next_tag_, letter == 'N' ? &lock : nullptr,
                                          key.data(), key.size(), &options, &error);
  must_tell(status, error);
  must(letter == 'N' || status == LOCKC_PENDING, "a request that is in order is accepted");
  must((status == LOCKC_OK) == (lock != nullptr), "success brings a lock, and nothing else does");
  if (lock != nullptr) locks_.push_back(lock);
  expect(LOCKC_DONE_ACQUIRE, status);
}

void Caller::cancel() {
  const uint64_t back = 1 + input_.digit();
  lockc_queue_cancel(queue_, next_tag_ - back);
}

// ---- locks

lockc_lock* Caller::pick() {
  const unsigned n = input_.digit();
  return locks_.empty() ? nullptr : locks_[n % locks_.size()];
}

void Caller::end(char letter) {
  lockc_lock* lock = pick();
  if (lock == nullptr) return;
  lockc_error* error = nullptr;
  switch (letter) {
    case 'r':
      return must_tell(lockc_lock_release(lock, &error), error);
    case 'e':
      return must_tell(lockc_lock_extend(lock, 60'000, &error), error);
    case 'o':
      return must_tell(lockc_lock_release_nowait(lock, &error), error);
    case 'R':
      expect(LOCKC_DONE_RELEASE, lockc_queue_release(queue_, next_tag_, lock, nullptr));
      return;
    case 'E':
      expect(LOCKC_DONE_EXTEND, lockc_queue_extend(queue_, next_tag_, lock, 60'000, nullptr));
      return;
    default:
      std::erase(locks_, lock);
      return lockc_lock_free(lock);
  }
}

void Caller::read() {
  const lockc_lock* lock = pick();
  if (lock == nullptr) return;
  must(lockc_lock_remaining_ms(lock) >= 0, "what remains is never less than nothing");
  must(std::string_view(lockc_lock_owner(lock)).starts_with("lc1:"), "a lock has its owner value");
  const int32_t reason = lockc_lock_lost_reason(lock);
  must(reason >= LOCKC_LOST_NOT && reason <= LOCKC_LOST_CLOSED, "a loss has one of the reasons");
  must(reason == LOCKC_LOST_NOT || lockc_lock_remaining_ms(lock) == 0, "what is lost has no time");
}

// ---- the queue

void Caller::poll(int32_t wait_ms) {
  std::array<lockc_completion, 4> done;
  for (;;) {
    const int32_t count =
        lockc_queue_poll(queue_, done.data(), static_cast<int32_t>(done.size()), wait_ms);
    must(count >= 0, "a queue can be polled, also when its client is closed");
    if (count == 0) return;
    for (int32_t i = 0; i < count; ++i) take(done[static_cast<size_t>(i)]);
    wait_ms = 0;
  }
}

void Caller::take(const lockc_completion& done) {
  must_tell(done.status, done.error);
  if (done.kind == LOCKC_EVENT_LOST) {
    must(done.status == LOCKC_LOST && done.tag > kLossTags, "a loss is told as one");
    must(lost_.insert(done.tag).second, "a loss is told once");
    return;
  }
  const auto found = expected_.find(done.tag);
  must(found != expected_.end() && found->second == done.kind, "one completion for each request");
  expected_.erase(found);
  const bool granted = done.kind == LOCKC_DONE_ACQUIRE && done.status == LOCKC_OK;
  must(granted == (done.lock != nullptr), "success brings a lock, and nothing else does");
  if (granted) locks_.push_back(done.lock);
}

void Caller::reopen() {
  lockc_queue_close(queue_);
  expected_.clear();
  must(lockc_queue_open(&queue_, client_, nullptr) == LOCKC_OK, "a queue can be opened");
}

void Caller::inspect() {
  const std::string key = key_of(input_.digit());
  lockc_text* text = nullptr;
  lockc_error* error = nullptr;
  const auto status = lockc_client_inspect(&text, client_, key.data(), key.size(), &error);
  must_tell(status, error);
  must((status == LOCKC_OK) == (text != nullptr), "success brings a text, and nothing else does");
  must(text == nullptr || *lockc_text_data(text) == '{', "... which is an object");
  lockc_text_free(text);
}

// ---- fencing

void Caller::read_record() {
  const std::string key = record_of(input_.digit());
  lockc_record_free(record_);
  lockc_error* error = nullptr;
  const auto status = lockc_client_read(&record_, client_, key.data(), key.size(), &error);
  must_tell(status, error);
  must((status == LOCKC_OK) == (record_ != nullptr), "success brings a record, and nothing else");
  size_t length = 1;
  const char* value = lockc_record_value(record_, &length);
  must(value[length] == '\0', "a value has its length, and ends there");
}

void Caller::write_record(char letter) {
  const unsigned n = input_.digit();
  const std::string key = record_of(n);
  lockc_write_options options{};
  options.struct_size = sizeof options;
  if (letter == 'y' && !locks_.empty()) options.token = lockc_lock_token(locks_[n % locks_.size()]);
  if (letter == 'z') {
    options.flags = LOCKC_IF_VERSION;
    options.version = lockc_record_version(record_);
  }
  uint64_t version = 1;
  lockc_error* error = nullptr;
  const auto status = lockc_client_write(&version, client_, key.data(), key.size(), key.data(),
                                         key.size(), &options, &error);
  must_tell(status, error);
  must((status == LOCKC_OK) == (version != 0), "success brings a version, and nothing else does");
  must(status <= 0 || status == LOCKC_STALE || status == LOCKC_CONFLICT, "a write is refused so");
}

void Caller::show_fence() {
  const uint64_t token = lockc_lock_token(pick());
  const auto status = lockc_fence_check(fence_, token);
  const uint64_t largest = lockc_fence_token(fence_);
  must(token != 0 || status == LOCKC_E_INVALID, "without a token nobody passes a fence");
  must(status != LOCKC_OK || token <= largest, "a fence remembers whom it let pass");
  must(status != LOCKC_STALE || token < largest, "only a smaller token is stale");
}

// An outcome that a caller can make sense of; its error is freed.
void Caller::must_tell(lockc_status status, lockc_error* error) {
  must((status < 0) == (error != nullptr), "an error has a text, and nothing else has");
  must_be_tellable(static_cast<Status>(status), lockc_error_message(error));
  must(error == nullptr || lockc_error_status(error) == status, "an error knows its status");
  lockc_error_free(error);
}

}  // namespace lockc::fuzz
