// Any options struct, with any struct_size: "c" and that of a client, "w" and that of a write, or
// "a" and that of an acquire. It is refused with a reason, or each member is within its range and
// the client or request works.
#include "options.h"

#include <lockc/lockc.h>

#include <string>

#include "check.h"

namespace lockc::fuzz {
namespace {

constexpr int64_t kDay = 86'400'000;
constexpr int64_t kYear = 365 * kDay;
constexpr int64_t kLargestNumber = (int64_t{1} << 53U) - 1;
const std::string kNobody = "unix:///nonexistent/lockc";

const std::vector<Member> kClientMembers = {
    member(&lockc_client_options::struct_size),
    member(&lockc_client_options::connect_timeout_ms, 1, kDay),
    member(&lockc_client_options::reply_timeout_ms, 1, kDay),
    member(&lockc_client_options::max_waiters),
    member(&lockc_client_options::key_prefix),
    member(&lockc_client_options::client_name),
    member(&lockc_client_options::username),
    member(&lockc_client_options::password),
    member(&lockc_client_options::default_ttl_ms, 10, kYear),
    member(&lockc_client_options::renew_every_ms, 1, kYear / 2),
    member(&lockc_client_options::fence_retention_ms, 1'000, kYear),
    member(&lockc_client_options::renew_batch, 1, 1'000),
    member(&lockc_client_options::handover_max, 1, 1'000),
    member(&lockc_client_options::handover_ms, 1, kDay),
    member(&lockc_client_options::spin_min_ms, 1, kDay),
    member(&lockc_client_options::spin_max_ms, 1, kDay),
    member(&lockc_client_options::log_fd, 0),
};
const std::vector<Member> kAcquireMembers = {
    member(&lockc_acquire_options::struct_size),
    member(&lockc_acquire_options::flags, 1, 0x1F),
    member(&lockc_acquire_options::kind, 0, LOCKC_FAIR),
    member(&lockc_acquire_options::max_tries),
    member(&lockc_acquire_options::ttl_ms, 10, kYear),
    member(&lockc_acquire_options::wait_ms, LOCKC_WAIT_FOREVER),
    member(&lockc_acquire_options::max_hold_ms, 0),
    member(&lockc_acquire_options::owner),
    member(&lockc_acquire_options::events),
    member(&lockc_acquire_options::events_tag),
};
const std::vector<Member> kWriteMembers = {
    member(&lockc_write_options::struct_size),
    member(&lockc_write_options::flags, LOCKC_IF_VERSION, LOCKC_IF_VERSION),
    member(&lockc_write_options::token, 1, kLargestNumber),
    member(&lockc_write_options::version, 1, kLargestNumber),
    member(&lockc_write_options::ttl_ms, 10, kYear),
};
const Member& kEvents = kAcquireMembers[8];

template <class Options>
void check_accepted(const OptionsImage<Options>& image, const std::vector<Member>& members) {
  for (const Member& member : members) {
    must(image.is_accepted(member), "what was accepted is within its range");
  }
}

// A refusal, and its text freed.
void check_refused(lockc_status status, lockc_error* error) {
  must(status == LOCKC_E_INVALID || status == LOCKC_E_UNSUPPORTED, "options are invalid or not");
  must(error != nullptr && *lockc_error_message(error) != '\0', "a refusal says why");
  must_be_tellable(static_cast<Status>(status), lockc_error_message(error));
  lockc_error_free(error);
}

void open_client(Input input) {
  const OptionsImage<lockc_client_options> image(kClientMembers, input);
  lockc_client* client = nullptr;
  lockc_error* error = nullptr;
  const auto status = lockc_client_open(&client, kNobody.c_str(), image.place().get(), &error);
  if (status != LOCKC_OK) {
    must(client == nullptr, "no client without success");
    return check_refused(status, error);
  }
  must(client != nullptr && error == nullptr, "success brings a client, and no text");
  check_accepted(image, kClientMembers);
  lockc_client_close(client);
}

// A client that has no server, for requests that are cancelled at once.
struct Rig {
  Rig() {
    lockc_client_open(&client, kNobody.c_str(), nullptr, nullptr);
    lockc_queue_open(&queue, client, nullptr);
  }
  ~Rig() {
    lockc_queue_close(queue);
    lockc_client_close(client);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  lockc_client* client = nullptr;
  lockc_queue* queue = nullptr;
};

void check_completion(lockc_queue* queue, uint64_t tag) {
  constexpr int32_t kLongest = 60'000;
  lockc_completion done{};
  must(lockc_queue_poll(queue, &done, 1, kLongest) == 1, "what was accepted is completed");
  must(done.tag == tag && done.kind == LOCKC_DONE_ACQUIRE, "... under its tag");
  must(done.status == LOCKC_CANCELLED || done.status == LOCKC_TIMEOUT ||
           done.status == LOCKC_E_UNREACHABLE,
       "without a server nothing is acquired");
  must(done.lock == nullptr, "... and there is no lock");
  lockc_error_free(done.error);
  must(lockc_queue_poll(queue, &done, 1, 0) == 0, "... once");
}

void acquire(Input input) {
  static const Rig rig;
  static const Rig other;
  static uint64_t tag = 0;
  OptionsImage<lockc_acquire_options> image(kAcquireMembers, input);
  const int64_t which = image.value(kEvents);
  const lockc_queue* events = which == 0 ? nullptr : which % 4 == 1 ? other.queue : rig.queue;
  image.set(kEvents, reinterpret_cast<intptr_t>(events));

  lockc_error* error = nullptr;
  const auto status =
      lockc_queue_acquire(rig.queue, ++tag, nullptr, "k", 1, image.place().get(), &error);
  if (status != LOCKC_PENDING) return check_refused(status, error);
  must(error == nullptr, "success has no text");
  check_accepted(image, kAcquireMembers);
  must(image.value(kEvents) == 0 || events != other.queue, "events go to the same client");
  lockc_queue_cancel(rig.queue, tag);
  check_completion(rig.queue, tag);
}

void write(Input input) {
  static const Rig rig;
  const OptionsImage<lockc_write_options> image(kWriteMembers, input);
  uint64_t version = 1;
  lockc_error* error = nullptr;
  const auto status =
      lockc_client_write(&version, rig.client, "k", 1, nullptr, 0, image.place().get(), &error);
  must(version == 0, "without a server nothing is written");
  if (status != LOCKC_E_UNREACHABLE) return check_refused(status, error);
  check_accepted(image, kWriteMembers);
  lockc_error_free(error);
}

}  // namespace
}  // namespace lockc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lockc::fuzz::Input input(data, size);
  switch (input.letter()) {
    case 'c':
      lockc::fuzz::open_client(input);
      break;
    case 'w':
      lockc::fuzz::write(input);
      break;
    default:
      lockc::fuzz::acquire(input);
  }
  return 0;
}
