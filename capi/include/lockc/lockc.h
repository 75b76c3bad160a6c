/* lockc: distributed locks on Redis and Valkey. This header is the whole C ABI.
 *
 * Conventions
 *   Results    Every fallible function returns a lockc_status. Outputs come first and are set to NULL
 *              unless the status is LOCKC_OK. The optional lockc_error **err comes last; it may be
 *              NULL, is set to NULL for a status >= 0, and to an object that the caller frees for a
 *              status < 0 (it may stay NULL when memory is short).
 *   Units      *_ms are milliseconds. Durations count on a clock that never jumps and that goes on
 *              while the machine is suspended (CLOCK_BOOTTIME).
 *   Keys       Pointer and length: 1..4096 bytes of any value once the prefix is applied, but not
 *              beginning with "lockc:". Keys and all other inputs are copied during the call.
 *   Handles    Owned by the caller, ended by their own _free or _close, which accept NULL.
 *   Options    struct_size is the caller's sizeof. A member that is 0 or NULL means the default, so a
 *              zeroed struct is right, also when it grows at its end in a later version. A longer
 *              struct whose unknown part is not all zero is LOCKC_E_INVALID.
 *   Threads    [any] from any thread at any time. [one] by one thread at a time per handle.
 *   Process    No function throws, exits, installs a signal handler or calls the caller's code. After
 *              fork() the client of the parent works in the child, by connections of its own; grants
 *              and queues from before the fork answer LOCKC_E_FORKED there.
 */
#ifndef LOCKC_H
#define LOCKC_H

#include <stddef.h>
#include <stdint.h>

#ifndef LOCKC_API /* parsers of this header may define it empty */
#define LOCKC_API __attribute__((visibility("default")))
#endif

#define LOCKC_VERSION_MAJOR 0
#define LOCKC_VERSION_MINOR 1
#define LOCKC_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lockc_client lockc_client; /* connections, key registry, watchdog */
typedef struct lockc_lock lockc_lock;     /* one grant of one key; never acquired again */
typedef struct lockc_queue lockc_queue;   /* completion queue of one event loop */
typedef struct lockc_error lockc_error;   /* the text of a status < 0 */
typedef struct lockc_text lockc_text;     /* a text that outlives the call */
typedef struct lockc_fence lockc_fence;   /* the largest token that was let pass */
typedef struct lockc_record lockc_record; /* what was read: a value, its version and token */

/* 0: done. > 0: an answer that is not success; nothing to log. < 0: no usable answer; *err has the
 * text. What each means, and what is left behind at the server, is in docs/errors.md. */
typedef int32_t lockc_status;
enum {
  LOCKC_OK = 0,
  LOCKC_BUSY = 1,      /* one try: another owner has the key */
  LOCKC_TIMEOUT = 2,   /* waited until the deadline; nothing is held */
  LOCKC_CANCELLED = 3, /* lockc_queue_cancel came first; nothing is held */
  LOCKC_NOT_HELD = 4,  /* release or extend of a grant that was already given back */
  LOCKC_LOST = 5,      /* the lease ended or another owner has the key: stop working */
  LOCKC_PENDING = 6,   /* accepted; the completion will come */
  LOCKC_STALE = 7,     /* a larger token came before this one; nothing was written */
  LOCKC_CONFLICT = 8,  /* the record has another version than expected; nothing was written */

  LOCKC_E_INVALID = -1,      /* a bad argument or option; the message names it */
  LOCKC_E_CLOSED = -2,       /* the client or queue is closed */
  LOCKC_E_NOMEM = -3,        /* out of memory in this process */
  LOCKC_E_UNREACHABLE = -4,  /* no connection; certainly not executed */
  LOCKC_E_UNCERTAIN = -5,    /* sent, no answer; lockc undoes a late grant, a write was done or not */
  LOCKC_E_SERVER = -6,       /* any other error answer; the message quotes it */
  LOCKC_E_DENIED = -7,       /* authentication or ACL */
  LOCKC_E_WRONG_TYPE = -8,   /* the key holds something else than what was asked for */
  LOCKC_E_SERVER_OOM = -9,   /* the server is at maxmemory and evicts nothing */
  LOCKC_E_UNSUPPORTED = -10, /* this server or this build cannot do that */
  LOCKC_E_LIMIT = -11,       /* max_waiters is reached */
  LOCKC_E_FORKED = -12,      /* a grant or queue inherited from before fork() */
  LOCKC_E_INTERNAL = -15,    /* a bug in lockc */
  LOCKC_E_READONLY = -16,    /* READONLY, NOREPLICAS or MISCONF */
  LOCKC_E_NOT_READY = -17    /* BUSY, LOADING, MASTERDOWN, CLUSTERDOWN or TRYAGAIN */
};

LOCKC_API uint32_t lockc_version(void);                           /* [any] 0xMMmmpp */
LOCKC_API const char *lockc_status_name(lockc_status status);     /* [any] "BUSY"; static string */
LOCKC_API lockc_status lockc_error_status(const lockc_error *err); /* [any] NULL: LOCKC_OK */
LOCKC_API const char *lockc_error_message(const lockc_error *err); /* [any] lives as long as err; NULL: "" */
LOCKC_API void lockc_error_free(lockc_error *err);

/* ---- client ---- */

typedef struct lockc_client_options {
  uint32_t struct_size;
  uint32_t connect_timeout_ms; /* name look-up, connect and log-in; default 1000 */
  uint32_t reply_timeout_ms;   /* without an answer for so long, a connection is given up; 1000 */
  uint32_t max_waiters;        /* bound of operations that wait for a lock; default 0 = none */
  const char *key_prefix;      /* put before every key; default "" */
  const char *client_name;     /* shown by CLIENT LIST as lockc:<client>:<name>; default host/pid */
  const char *username;        /* in place of the URL's; default the URL's */
  const char *password;        /* in place of the URL's; default the URL's */
  int64_t default_ttl_ms;      /* ttl of acquires that name none; 10..one year; default 30000 */
  int64_t renew_every_ms;      /* default a third of each lock's ttl; at most half of the default ttl */
  int64_t fence_retention_ms;  /* how long the last token of an idle key is kept; default 60000 */
  uint32_t renew_batch;        /* keys per renewal command; 1..1000; default 128 */
  uint32_t handover_max;       /* grants in a row inside this client by one server grant; 1..1000; default 8 */
  uint32_t handover_ms;        /* ... and for at most so long; default 20 */
  uint32_t spin_min_ms;        /* back-off of LOCKC_SPIN and of foreign holders, from; default 2 */
  uint32_t spin_max_ms;        /* ... up to; default 250 */
  int32_t log_fd;              /* warnings go to this descriptor, one line each; default 0 = nowhere */
} lockc_client_options;

/* [any] Checks url and opts and starts a client; sends nothing. What only the server can tell is told
 * by the first operation, or by lockc_client_connect. url: redis://[user[:password]@]host[:port][/db]
 * or unix:///path[?db=n]; NULL: the environment's LOCKC_URL, else redis://127.0.0.1:6379; "" is invalid.
 * opts NULL: all defaults. E_INVALID, E_UNSUPPORTED (rediss://), E_NOMEM. */
LOCKC_API lockc_status lockc_client_open(lockc_client **out, const char *url,
                                         const lockc_client_options *opts, lockc_error **err);

/* [any] Blocks until one connection stands, at most timeout_ms (>= 0). */
LOCKC_API lockc_status lockc_client_connect(lockc_client *client, int64_t timeout_ms,
                                            lockc_error **err);

/* [one] Releases what is held, completes what is outstanding with LOCKC_E_CLOSED, and ends the client.
 * Waits for the server's answers at most reply_timeout_ms; all completions of its queues, EVENT_LOST too,
 * are in them when it returns. Locks and queues of this client stay valid
 * handles that answer LOCKC_E_CLOSED; the client handle is gone. */
LOCKC_API void lockc_client_close(lockc_client *client);

/* ---- locks ---- */

#define LOCKC_WAIT_FOREVER (-1) /* other negative times are LOCKC_E_INVALID */

typedef enum lockc_kind {
  LOCKC_EXCLUSIVE = 0, /* waiters of one client share a place in the server's queue */
  LOCKC_FAIR = 1       /* strictly first come, first served over all clients */
} lockc_kind;

enum { /* flags */
  LOCKC_RENEW = 0x1u,      /* renew in the background; the default if ttl_ms is 0 */
  LOCKC_NO_RENEW = 0x2u,   /* a fixed lease; the default if ttl_ms is given */
  LOCKC_SPIN = 0x4u,       /* wait by asking with jittered back-off: no queue, no subscription */
  LOCKC_PERMISSIVE = 0x8u, /* loss is told, no more: the bindings neither cancel nor raise */
  LOCKC_UNFENCED = 0x10u   /* efficiency lock: no fencing token; lockc_lock_token answers 0 */
};

typedef struct lockc_acquire_options {
  uint32_t struct_size;
  uint32_t flags;
  int32_t kind;        /* lockc_kind */
  uint32_t max_tries;  /* with LOCKC_SPIN: BUSY after so many; 0 = bounded by wait_ms alone */
  int64_t ttl_ms;      /* 0 = default_ttl_ms; 10..one year */
  int64_t wait_ms;     /* 0 = one try; > 0 = at most so long; LOCKC_WAIT_FOREVER */
  int64_t max_hold_ms; /* renewal stops so long after the grant; 0 = no bound */
  uint64_t owner;      /* 0 = not re-entrant; else this owner may enter again, without a command */
  lockc_queue *events; /* where LOCKC_EVENT_LOST of this grant goes; NULL = nowhere */
  uint64_t events_tag; /* its tag */
} lockc_acquire_options;

/* [any] Blocks until granted, refused or wait_ms is over. opts NULL: one try with the defaults.
 * LOCKC_OK: *out is the caller's, to be released and freed. */
LOCKC_API lockc_status lockc_client_acquire(lockc_lock **out, lockc_client *client, const char *key,
                                            size_t key_len, const lockc_acquire_options *opts,
                                            lockc_error **err);

/* [any] Blocks for one answer. The lease then lasts at least ttl_ms (10..one year) from now; never
 * shortens it. OK, NOT_HELD, LOST. */
LOCKC_API lockc_status lockc_lock_extend(lockc_lock *lock, int64_t ttl_ms, lockc_error **err);

/* [any] Blocks for one answer, at most about reply_timeout_ms. OK; NOT_HELD: it was released before;
 * LOST: it was no longer ours, nothing was deleted. On E_UNREACHABLE or E_UNCERTAIN the grant is over
 * here and lockc goes on giving it back behind; the call may be repeated to learn the end. */
LOCKC_API lockc_status lockc_lock_release(lockc_lock *lock, lockc_error **err);

/* [any] Sends the release and never blocks. OK: it is on its way, or will be as soon as a connection stands,
 * and the same caller may ask for the key again at once. NOT_HELD, LOST: known already. Without an answer
 * lockc goes on giving back behind; an answer that the key was no longer ours is told as any loss is, by
 * EVENT_LOST and the reason. A lockc_lock_release may follow once, to learn the end. */
LOCKC_API lockc_status lockc_lock_release_nowait(lockc_lock *lock, lockc_error **err);

/* [one] Ends the handle, never blocks: a lease still held is released behind it. May be called during and
 * after lockc_client_close. */
LOCKC_API void lockc_lock_free(lockc_lock *lock);

/* [any] Fencing token: larger for every later grant of the same key. 0: LOCKC_UNFENCED. */
LOCKC_API uint64_t lockc_lock_token(const lockc_lock *lock);
/* [any] Proven remaining validity, without I/O. 0: released, or over. A release of one that
 * is over is answered LOST, also before EVENT_LOST has told of it. */
LOCKC_API int64_t lockc_lock_remaining_ms(const lockc_lock *lock);
/* [any] The value at the key while it is held; lives as long as lock. "": memory is short. */
LOCKC_API const char *lockc_lock_owner(const lockc_lock *lock);

enum { /* why a lease was lost */
  LOCKC_LOST_NOT = 0,     /* it was not */
  LOCKC_LOST_EXPIRED = 1, /* its end came before a renewal was answered */
  LOCKC_LOST_TAKEN = 2,   /* the key was deleted, evicted or belongs to another owner */
  LOCKC_LOST_LIMIT = 3,   /* max_hold_ms; told when the lease then runs out */
  LOCKC_LOST_CLOSED = 4,  /* the client was closed */
  LOCKC_LOST_FORKED = 5   /* inherited from before fork() */
};
LOCKC_API int32_t lockc_lock_lost_reason(const lockc_lock *lock); /* [any] */

/* ---- completion queues: every accepted request yields exactly one completion, come what may ---- */

enum { LOCKC_DONE_ACQUIRE = 1, LOCKC_DONE_EXTEND = 2, LOCKC_DONE_RELEASE = 3, LOCKC_EVENT_LOST = 4 };

typedef struct lockc_completion { /* frozen: 32 bytes for ever */
  uint64_t tag;
  int32_t kind;
  lockc_status status;
  lockc_lock *lock;   /* DONE_ACQUIRE with LOCKC_OK: the caller's; else NULL */
  lockc_error *error; /* status < 0: the caller's, to be freed; may be NULL */
} lockc_completion;
/* EVENT_LOST has status LOCKC_LOST; it comes once per lost grant, also when a fixed lease ends, and never
 * after its release began, unless that was lockc_lock_release_nowait. */

LOCKC_API lockc_status lockc_queue_open(lockc_queue **out, lockc_client *client, lockc_error **err);
/* [one] Cancels what is outstanding, releases and frees grants that nobody took out; does not wait for the
 * server. */
LOCKC_API void lockc_queue_close(lockc_queue *queue);
/* [any] Readable while completions wait; to be polled, never read. Lives as long as the queue. It is
 * signalled anew after each lockc_queue_poll that emptied the queue, so edge-triggered polling works. */
LOCKC_API int lockc_queue_fd(const lockc_queue *queue);
/* [one] Fills up to capacity entries and returns their number; < 0: a status (INVALID, FORKED).
 * timeout_ms: 0 = do not wait, -1 = for ever. Returns 0 early when a signal was handled. */
LOCKC_API int32_t lockc_queue_poll(lockc_queue *queue, lockc_completion *out, int32_t capacity,
                                   int32_t timeout_ms);

/* [any] Asks for a lock without waiting for it. A tag names one acquire of its queue at a time: one that is not
 * completed yet is LOCKC_E_INVALID. now NULL: LOCKC_PENDING, the completion will come.
 * now not NULL: one round trip may be made here if a connection is free, and the answer returned at
 * once (LOCKC_OK with *now, BUSY, ...; no completion follows); else LOCKC_PENDING. */
LOCKC_API lockc_status lockc_queue_acquire(lockc_queue *queue, uint64_t tag, lockc_lock **now,
                                           const char *key, size_t key_len,
                                           const lockc_acquire_options *opts, lockc_error **err);
/* [any] The lock may be freed before the completion comes. */
LOCKC_API lockc_status lockc_queue_extend(lockc_queue *queue, uint64_t tag, lockc_lock *lock,
                                          int64_t ttl_ms, lockc_error **err);
LOCKC_API lockc_status lockc_queue_release(lockc_queue *queue, uint64_t tag, lockc_lock *lock,
                                           lockc_error **err);
/* [any] Ends an acquire that still waits: its completion says CANCELLED. Does nothing once completed. */
LOCKC_API void lockc_queue_cancel(lockc_queue *queue, uint64_t tag);

/* ---- inspection ---- */

/* [any] Blocks for one answer. What the server knows of a key, as one JSON object: key, state (free,
 * held, foreign, zombie, record, other), type, owner, client_name, pttl_ms, token (the last one given, which
 * may be beyond the holder's own), queue, grace_ms. */
LOCKC_API lockc_status lockc_client_inspect(lockc_text **out, lockc_client *client, const char *key,
                                            size_t key_len, lockc_error **err);
LOCKC_API const char *lockc_text_data(const lockc_text *text); /* [any] lives as long as text */
LOCKC_API void lockc_text_free(lockc_text *text);

/* ---- fencing, the resource's side ----
 *
 * A token protects only what refuses smaller ones than it has seen. A fence does that for a resource
 * inside this process; a record does it for data on a Redis or Valkey server. docs/fencing.md has
 * SQL for tables. */

/* [any] A new fence has seen no token. */
LOCKC_API lockc_status lockc_fence_new(lockc_fence **out, lockc_error **err);
/* [any] OK: not smaller than any before, and remembered. STALE: keep the resource from this caller.
 * E_INVALID: token is 0, that of an unfenced lock. */
LOCKC_API lockc_status lockc_fence_check(lockc_fence *fence, uint64_t token);
LOCKC_API uint64_t lockc_fence_token(const lockc_fence *fence); /* [any] the largest so far; 0: none */
LOCKC_API void lockc_fence_free(lockc_fence *fence);            /* [one] */

/* A record is a hash at the server with the fields value, version and token. The numbers live and die
 * with the value: a record that was deleted or has expired lets any token pass. A version is never
 * given twice, also not after that, unless the server's clock was set back. Keys are those of the
 * client, prefix and all, but no locks: a record has a key of its own, and no expiry unless asked. */

#define LOCKC_RECORD_MAX_VALUE 8388608 /* bytes */

enum { LOCKC_IF_VERSION = 0x1u }; /* flag: only if the record has this version */

typedef struct lockc_write_options {
  uint32_t struct_size;
  uint32_t flags;
  uint64_t token;   /* refused if a larger one wrote before; 0: not fenced; below 2^53 */
  uint64_t version; /* with LOCKC_IF_VERSION: what the record must have; 0: it must not exist */
  int64_t ttl_ms;   /* the record expires so long after; 10..one year; 0: its expiry stays as it is */
} lockc_write_options;

/* [any] Blocks for one answer. OK: *version is the record's new one, larger than any before; version
 * may be NULL. STALE, CONFLICT: nothing was written; where both are so, STALE. After E_UNCERTAIN it may
 * have been written; it is never sent twice. value: any bytes, up to LOCKC_RECORD_MAX_VALUE. opts NULL:
 * writes whatever is there. */
LOCKC_API lockc_status lockc_client_write(uint64_t *version, lockc_client *client, const char *key,
                                          size_t key_len, const void *value, size_t value_len,
                                          const lockc_write_options *opts, lockc_error **err);
/* [any] Blocks for one answer. No such record: OK, with version 0 and an empty value. */
LOCKC_API lockc_status lockc_client_read(lockc_record **out, lockc_client *client, const char *key,
                                         size_t key_len, lockc_error **err);
/* [any] The bytes live as long as record and are followed by a 0; len may be NULL. */
LOCKC_API const char *lockc_record_value(const lockc_record *record, size_t *len);
LOCKC_API uint64_t lockc_record_version(const lockc_record *record); /* [any] 0: there was none */
LOCKC_API uint64_t lockc_record_token(const lockc_record *record);   /* [any] the largest that wrote it */
LOCKC_API void lockc_record_free(lockc_record *record);              /* [one] */

#ifdef __cplusplus
}
#endif
#endif
