package lockc

import (
	"context"
	"strconv"
	"strings"

	"lockc/internal/raw"
)

// A Status says how an operation ended. Every status is an error to compare with:
//
//	if errors.Is(err, lockc.ErrBusy) { ... }
//
// Positive ones are answers that aren't success; negative ones say that there is no usable answer.
type Status int32

// The statuses. What each one leaves behind at the server is told in docs/errors.md.
const (
	ErrBusy      Status = raw.Busy      // one try: another owner has the key
	ErrTimeout   Status = raw.Timeout   // the context's deadline came first; nothing is held
	ErrCancelled Status = raw.Cancelled // the context was cancelled first; nothing is held
	ErrNotHeld   Status = raw.NotHeld   // the lock was given back before
	ErrLost      Status = raw.Lost      // the lease ended or another owner has the key: stop working
	ErrStale     Status = raw.Stale     // a larger token came before this one; nothing was written
	ErrConflict  Status = raw.Conflict  // the record has another version than expected; nothing was written

	ErrInvalid     Status = raw.EInvalid     // a bad argument or option; the message names it
	ErrClosed      Status = raw.EClosed      // the client is closed
	ErrNoMemory    Status = raw.ENoMem       // out of memory in this process
	ErrUnreachable Status = raw.EUnreachable // no connection; certainly not executed
	ErrUncertain   Status = raw.EUncertain   // sent, no answer; a late grant is undone, a write was done or not
	ErrServer      Status = raw.EServer      // any other error answer; the message quotes it
	ErrDenied      Status = raw.EDenied      // authentication or ACL
	ErrWrongType   Status = raw.EWrongType   // the key holds something else than what was asked for
	ErrServerOOM   Status = raw.EServerOOM   // the server is at maxmemory and evicts nothing
	ErrUnsupported Status = raw.EUnsupported // this server or this build cannot do that
	ErrLimit       Status = raw.ELimit       // MaxWaiters is reached
	ErrForked      Status = raw.EForked      // inherited from before a fork
	ErrInternal    Status = raw.EInternal    // a bug in lockc
	ErrReadOnly    Status = raw.EReadOnly    // a replica, or one that can't store at present
	ErrNotReady    Status = raw.ENotReady    // busy with a script, loading, or without its master
)

var statusTexts = map[Status]string{
	ErrBusy:        "another owner has the key",
	ErrTimeout:     "not granted before the deadline",
	ErrCancelled:   "cancelled while waiting",
	ErrNotHeld:     "not held any more",
	ErrLost:        "the lock was lost",
	ErrStale:       "a larger token came before",
	ErrConflict:    "the record has another version than expected",
	ErrInvalid:     "invalid argument",
	ErrClosed:      "the client is closed",
	ErrNoMemory:    "out of memory",
	ErrUnreachable: "the server can't be reached",
	ErrUncertain:   "sent, but not answered",
	ErrServer:      "the server answered an error",
	ErrDenied:      "the server denied access",
	ErrWrongType:   "the key holds something else",
	ErrServerOOM:   "the server is out of memory",
	ErrUnsupported: "not supported",
	ErrLimit:       "too many waiters",
	ErrForked:      "inherited from before a fork",
	ErrInternal:    "internal error",
	ErrReadOnly:    "the server is read-only",
	ErrNotReady:    "the server isn't ready",
}

// Error tells the status in words.
func (s Status) Error() string {
	if text, known := statusTexts[s]; known {
		return "lockc: " + text
	}
	return "lockc: unknown status " + strconv.Itoa(int(s))
}

// An Error is how every operation of this package fails. errors.Is finds its Status in it and,
// where a context ended the operation, that context's error as well.
type Error struct {
	Status  Status
	Key     string // empty where the failure isn't about one key
	Message string // never shows a password

	cause error
}

// Error tells the key and what happened to it.
func (e *Error) Error() string {
	if e.Key == "" || strings.HasPrefix(e.Message, `"`) { // the library's messages begin with the key
		return "lockc: " + e.Message
	}
	return "lockc: " + strconv.Quote(e.Key) + ": " + e.Message
}

// Is reports whether target is the status of e.
func (e *Error) Is(target error) bool { return target == e.Status }

// Unwrap returns what else ended the operation: a context's error, or that of the caller's function.
func (e *Error) Unwrap() error { return e.cause }

// failure makes an Error that has nothing to say beyond its status.
func failure(status Status, key string) *Error {
	return &Error{Status: status, Key: key, Message: status.Error()[len("lockc: "):]}
}

// ended is the failure of an operation whose context is over.
func ended(cause error, key string) *Error {
	status := ErrCancelled
	if cause == context.DeadlineExceeded {
		status = ErrTimeout
	}
	err := failure(status, key)
	err.cause = cause
	return err
}

// failed turns the answer of an operation that didn't succeed into its Error, and frees its text.
func failed(answer *raw.Answer, key string) *Error {
	err := failure(Status(answer.Status), key)
	if answer.Error != 0 {
		var text [1024]byte
		size := raw.ErrorTake(answer.Error, text[:])
		err.Message = string(text[:size])
		answer.Error = 0
	}
	if err.Status == ErrInvalid {
		err.Message = goNames.Replace(err.Message)
	}
	return err
}

// goNames turns the names of options in the library's messages into those of this package.
var goNames = strings.NewReplacer(
	"connect_timeout_ms", "ConnectTimeout",
	"reply_timeout_ms", "ReplyTimeout",
	"key_prefix", "KeyPrefix",
	"client_name", "ClientName",
	"default_ttl_ms", "DefaultTTL",
	"renew_every_ms", "RenewEvery",
	"fence_retention_ms", "FenceRetention",
	"renew_batch", "RenewBatch",
	"handover_max", "HandoverMax",
	"handover_ms", "Handover",
	"spin_min_ms", "SpinMin",
	"spin_max_ms", "SpinMax",
	"max_hold_ms", "MaxHold",
	"max_tries", "MaxTries",
	"version is", "Version is",
	"token is", "Token is",
	"LOCKC_RENEW", "Renew",
	"LOCKC_NO_RENEW", "NoRenew",
	"LOCKC_SPIN", "Spin",
	"LOCKC_IF_VERSION", "IfVersion",
	"flags has", "AcquireOptions has",
)

// answered is failed, or nil for an answer that is success.
func answered(answer *raw.Answer, key string) error {
	if answer.Status == raw.OK {
		return nil
	}
	return failed(answer, key)
}
