// One thread that uses a client by the C ABI, as its bytes say. k is a digit: the key; n too: which
// of the locks it has.
//
//   ak wk fk sk uk   blocks for a lock: one try · waits 5 ms · in order · spinning · unfenced
//   tk               ... for a fixed lease of 10 ms; 2k: for a re-entrant owner
//   Ak Wk Fk Nk      asks by its queue: one try · for ever · in order · takes what comes at once
//   rn en            gives back, extends, and blocks for it; Rn En: by its queue
//   on dn gn         gives back without waiting; ends the lock's handle; reads all that it tells
//   cn               cancels the n-th latest request
//   p l              polls; polls and waits 2 ms
//   q                closes its queue and opens another
//   ik K             inspects a key; wants a connection
//   vk xk            reads a record; writes it, whatever is there
//   yn zk            ... by the token of its lock; ... if it is as the last one that was read
//   mn               shows the fence of both threads the token of its lock
#pragma once

#include <lockc/lockc.h>

#include <map>
#include <set>
#include <vector>

#include "input.h"

namespace lockc::fuzz {

class Caller {
 public:
  Caller(lockc_client* client, lockc_fence* fence, Input input);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void run();
  // The client has been closed: what is not completed by now never will be.
  void finish();

 private:
  void step(char letter);
  void block_for(char letter);
  void ask(char letter);
  void end(char letter);
  void read();
  void cancel();
  void poll(int32_t wait_ms);
  void reopen();
  void inspect();
  void read_record();
  void write_record(char letter);
  void show_fence();

  lockc_acquire_options options_for(char letter);
  lockc_lock* pick();
  uint64_t expect(int32_t kind, lockc_status status);
  void take(const lockc_completion& done);
  void must_tell(lockc_status status, lockc_error* error);

  lockc_client* const client_;
  lockc_fence* const fence_;
  Input input_;
  lockc_queue* queue_ = nullptr;
  std::vector<lockc_lock*> locks_;
  uint64_t next_tag_ = 1;
  std::map<uint64_t, int32_t> expected_;  // by tag: the kind of a completion that has to come
  std::set<uint64_t> lost_;               // tags of the losses that were told
  lockc_record* record_ = nullptr;        // the last that was read
};

}  // namespace lockc::fuzz
