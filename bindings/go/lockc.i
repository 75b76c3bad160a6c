/* The C side of the Go package, as SWIG turns it into internal/raw: handles cross the border as
 * uintptr, keys as the bytes of a Go string without a copy, results in an Answer of the caller's.
 * After a change run ./generate.sh and commit what it writes. */
%module raw

%insert(cgo_comment) %{
#cgo pkg-config: lockc
#include "glue.h"
%}

%{
#include "glue.h"
%}

%insert(go_header) %{
// Statuses, as lockc.h has them.
const (
	OK            = C.LOCKC_OK
	Busy          = C.LOCKC_BUSY
	Timeout       = C.LOCKC_TIMEOUT
	Cancelled     = C.LOCKC_CANCELLED
	NotHeld       = C.LOCKC_NOT_HELD
	Lost          = C.LOCKC_LOST
	Pending       = C.LOCKC_PENDING
	Stale         = C.LOCKC_STALE
	Conflict      = C.LOCKC_CONFLICT
	EInvalid      = C.LOCKC_E_INVALID
	EClosed       = C.LOCKC_E_CLOSED
	ENoMem        = C.LOCKC_E_NOMEM
	EUnreachable  = C.LOCKC_E_UNREACHABLE
	EUncertain    = C.LOCKC_E_UNCERTAIN
	EServer       = C.LOCKC_E_SERVER
	EDenied       = C.LOCKC_E_DENIED
	EWrongType    = C.LOCKC_E_WRONG_TYPE
	EServerOOM    = C.LOCKC_E_SERVER_OOM
	EUnsupported  = C.LOCKC_E_UNSUPPORTED
	ELimit        = C.LOCKC_E_LIMIT
	EForked       = C.LOCKC_E_FORKED
	EInternal     = C.LOCKC_E_INTERNAL
	EReadOnly     = C.LOCKC_E_READONLY
	ENotReady     = C.LOCKC_E_NOT_READY
)

// Kinds and flags of an acquire.
const (
	Exclusive   = C.LOCKC_EXCLUSIVE
	Fair        = C.LOCKC_FAIR
	Renew       = C.LOCKC_RENEW
	NoRenew     = C.LOCKC_NO_RENEW
	Spin        = C.LOCKC_SPIN
	Permissive  = C.LOCKC_PERMISSIVE
	Unfenced    = C.LOCKC_UNFENCED
	WaitForever = C.LOCKC_WAIT_FOREVER
)

// The flag of a write.
const IfVersion = C.LOCKC_IF_VERSION

// Kinds of an Answer from a queue, and reasons of a loss.
const (
	DoneAcquire = C.LOCKC_DONE_ACQUIRE
	DoneExtend  = C.LOCKC_DONE_EXTEND
	DoneRelease = C.LOCKC_DONE_RELEASE
	EventLost   = C.LOCKC_EVENT_LOST
	LostNot     = C.LOCKC_LOST_NOT
	LostExpired = C.LOCKC_LOST_EXPIRED
	LostTaken   = C.LOCKC_LOST_TAKEN
	LostLimit   = C.LOCKC_LOST_LIMIT
	LostClosed  = C.LOCKC_LOST_CLOSED
	LostForked  = C.LOCKC_LOST_FORKED
)

// An Answer is the end of an operation: its status, and what the caller has to free.
type Answer struct {
	Tag    uint64
	Token  uint64
	Lock   uintptr
	Error  uintptr
	Kind   int32
	Status int32
}

// Fails to compile unless Answer is as large as its C counterpart.
var _ = [1]struct{}{}[unsafe.Sizeof(Answer{})-C.sizeof_lockc_go_answer]
%}

/* Numbers keep their width. */
%typemap(gotype) int32_t "int32"
%typemap(gotype) uint32_t "uint32"
%typemap(gotype) int64_t "int64"
%typemap(gotype) uint64_t "uint64"
%typemap(in) int32_t, uint32_t, int64_t, uint64_t %{ $1 = $input; %}
%typemap(out) int32_t, uint32_t, int64_t, uint64_t %{ $result = $1; %}
%typemap(goout) int32_t, uint32_t, int64_t, uint64_t ""

/* Handles are numbers in Go. */
%typemap(gotype) lockc_client *, lockc_queue *, lockc_lock *, lockc_error *, lockc_text *,
                 lockc_record *, const lockc_queue *, const lockc_lock *, const lockc_error *,
                 const lockc_text *, const lockc_record * "uintptr"
%typemap(in) lockc_client *, lockc_queue *, lockc_lock *, lockc_error *, lockc_text *,
             lockc_record *, const lockc_queue *, const lockc_lock *, const lockc_error *,
             const lockc_text *, const lockc_record * %{ $1 = ($1_ltype)$input; %}
%typemap(out) lockc_client *, lockc_queue *, lockc_text *, lockc_record * %{ $result = $1; %}
%typemap(goout) lockc_client *, lockc_queue *, lockc_text *, lockc_record * ""

%typemap(gotype) lockc_go_answer *answer "*Answer"
%typemap(in) lockc_go_answer *answer %{ $1 = ($1_ltype)$input; %}
%typemap(gotype) (lockc_go_answer *answers, int32_t capacity) "[]Answer"
%typemap(in) (lockc_go_answer *answers, int32_t capacity) %{
  $1 = ($1_ltype)$input.array;
  $2 = ($2_ltype)$input.len;
%}
%typemap(gotype) (char *buffer, size_t capacity) "[]byte"
%typemap(in) (char *buffer, size_t capacity) %{
  $1 = ($1_ltype)$input.array;
  $2 = ($2_ltype)$input.len;
%}
%apply (char *buffer, size_t capacity) { (const char *value, size_t value_len) };
%apply (char *STRING, size_t LENGTH) { (const char *key, size_t key_len) };

%rename(Open) lockc_go_open;
%rename(Connect) lockc_go_connect;
%rename(Inspect) lockc_go_inspect;
%rename(Read) lockc_go_read;
%rename(Write) lockc_go_write;
%rename(QueueOpen) lockc_go_queue_open;
%rename(QueueDup) lockc_go_queue_dup;
%rename(QueueAcquire) lockc_go_acquire;
%rename(QueueExtend) lockc_go_queue_extend;
%rename(QueueRelease) lockc_go_queue_release;
%rename(QueuePoll) lockc_go_queue_poll;
%rename(Release) lockc_go_release;
%rename(ReleaseNowait) lockc_go_release_nowait;
%rename(ErrorTake) lockc_go_error_take;
%rename(TextSize) lockc_go_text_size;
%rename(TextTake) lockc_go_text_take;
%rename(RecordSize) lockc_go_record_size;
%rename(RecordTake) lockc_go_record_take;
%ignore lockc_go_given;
%ignore lockc_go_key;
%ignore lockc_go_copy;
%ignore lockc_go_answer;
%include "internal/raw/glue.h"

/* What is taken from lockc.h as it is. */
%rename(ClientClose) lockc_client_close;
%rename(QueueClose) lockc_queue_close;
%rename(QueueCancel) lockc_queue_cancel;
%rename(LockFree) lockc_lock_free;
%rename(LockRemaining) lockc_lock_remaining_ms;
%rename(LockLostReason) lockc_lock_lost_reason;
%rename(ErrorFree) lockc_error_free;
%rename(RecordVersion) lockc_record_version;
%rename(RecordToken) lockc_record_token;

void lockc_client_close(lockc_client *client);
void lockc_queue_close(lockc_queue *queue);
void lockc_queue_cancel(lockc_queue *queue, uint64_t tag);
void lockc_lock_free(lockc_lock *lock);
int64_t lockc_lock_remaining_ms(const lockc_lock *lock);
int32_t lockc_lock_lost_reason(const lockc_lock *lock);
void lockc_error_free(lockc_error *err);
uint64_t lockc_record_version(const lockc_record *record);
uint64_t lockc_record_token(const lockc_record *record);
