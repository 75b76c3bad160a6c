package lockc

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"lockc/internal/raw"
)

// A Lock is one grant of one key. It is never acquired again; its methods may be called from any
// goroutine. A Lock that is dropped without Release is given back when it is collected.
type Lock struct {
	client *Client
	key    string
	token  uint64
	lease  *lease
	tag    uint64

	mu       sync.Mutex // nobody waits for the server with it
	handle   uintptr    // 0: freed, or taken by a Release
	released bool       // a Release has begun
}

// Key returns the key as it was asked for, without the client's prefix.
func (l *Lock) Key() string { return l.key }

// Token returns the fencing token: larger for every later grant of the same key. Give it to the
// resource that the lock protects, so that it can refuse older ones. It is 0 with Unfenced.
func (l *Lock) Token() uint64 { return l.token }

// Remaining returns for how long the lease is proven to last, without asking the server. It is 0 when
// the lock is not held any more.
func (l *Lock) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return 0
	}
	return time.Duration(raw.LockRemaining(l.handle)) * time.Millisecond
}

// Lost returns a channel that is closed when the lease is lost: stop working then. It stays open
// when the lock is released in time.
func (l *Lock) Lost() <-chan struct{} { return l.lease.lostSignal() }

// Err returns nil while the lock is held, ErrLost with the reason once the lease is lost, and
// ErrNotHeld after a Release in time.
func (l *Lock) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return l.over()
	}
	if !l.lease.isLost() && raw.LockRemaining(l.handle) > 0 {
		return nil
	}
	err := failure(ErrLost, l.key)
	if why, known := lossTexts[raw.LockLostReason(l.handle)]; known {
		err.Message += ": " + why
	}
	return err
}

// over is the failure of what is asked of a lock whose Release has begun.
func (l *Lock) over() error {
	if l.lease.isLost() {
		return failure(ErrLost, l.key)
	}
	return failure(ErrNotHeld, l.key)
}

var lossTexts = map[int32]string{
	raw.LostExpired: "it ended before a renewal was answered",
	raw.LostTaken:   "the key was deleted or has another owner",
	raw.LostLimit:   "it reached MaxHold",
	raw.LostClosed:  "the client was closed",
	raw.LostForked:  "it was inherited from before a fork",
}

// Context returns a child of parent that is cancelled when the lease is lost (not if the lock is
// Permissive) and when the lock is released. It keeps the lock from being collected.
func (l *Lock) Context(parent context.Context) context.Context {
	return &leaseContext{Context: l.lease.derive(parent), lock: l}
}

// A leaseContext refers to its lock for the garbage collector alone.
type leaseContext struct {
	context.Context
	lock *Lock
}

// Extend asks that the lease last at least ttl from now; it never shortens it. Where ctx ended first
// the lease may have been extended or not.
func (l *Lock) Extend(ctx context.Context, ttl time.Duration) error {
	if cause := ctx.Err(); cause != nil {
		return ended(cause, l.key)
	}
	op, answer, err := l.startExtend(ttl)
	if err != nil {
		return err
	}
	if answer.Status == raw.Pending {
		select {
		case *answer = <-op.answer:
		case <-ctx.Done():
			l.client.poller.forget(op.tag)
			return ended(ctx.Err(), l.key)
		}
	}
	l.client.poller.finish(op)
	return answered(answer, l.key)
}

func (l *Lock) startExtend(ttl time.Duration) (op operation, answer *raw.Answer, err error) {
	if err := l.client.enter(l.key); err != nil {
		return op, nil, err
	}
	defer l.client.leave()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return op, nil, l.over()
	}
	op = l.client.poller.begin(nil)
	answer = new(raw.Answer)
	raw.QueueExtend(l.client.poller.queue, op.tag, l.handle, milliseconds(ttl), answer)
	return op, answer, nil
}

// Release gives the lock back. It doesn't depend on any context and takes at most about
// Options.ReplyTimeout. ErrLost says that the lock was lost before; nothing that belongs to another
// owner is touched. A second Release answers ErrNotHeld, so a deferred one does no harm. After
// ErrUnreachable or ErrUncertain the lock isn't held any more and is given back as soon as the server
// answers; Release may be called again to learn the end.
func (l *Lock) Release() error {
	handle := l.take()
	if handle == 0 {
		return failure(ErrNotHeld, l.key)
	}
	l.client.poller.forget(l.tag)
	l.lease.end()
	answer, err := l.client.release(handle, l.key)
	if answer.Lock == 0 {
		runtime.SetFinalizer(l, nil)
	} else {
		l.mu.Lock()
		l.handle = answer.Lock
		l.mu.Unlock()
	}
	if errors.Is(err, ErrLost) {
		l.lease.lose()
	}
	return err
}

// ReleaseNowait gives the lock back without waiting for the server's answer; where none comes, lockc
// goes on giving it back. ErrLost says that the lock is known to be lost. Where only the answer tells
// that, Lost is closed and Err says so then, as long as the Lock is in use. Any Release behind it
// answers ErrNotHeld.
func (l *Lock) ReleaseNowait() error {
	handle := l.take()
	if handle == 0 {
		return failure(ErrNotHeld, l.key)
	}
	l.lease.end()
	err := l.client.releaseNowait(handle, l.key)
	if errors.Is(err, ErrLost) {
		l.lease.lose()
	}
	return err
}

// take returns the handle to whoever gives it back; 0 for all but the first.
func (l *Lock) take() uintptr {
	l.mu.Lock()
	defer l.mu.Unlock()
	handle := l.handle
	l.handle, l.released = 0, true
	return handle
}

// settle releases the lock and joins its end with the result of the work that was done under it.
func (l *Lock) settle(result error) error {
	err := l.Release()
	lost := errors.Is(err, ErrLost) || l.lease.isLost()
	switch {
	case err == nil, errors.Is(err, ErrNotHeld), lost && l.lease.permissive:
		return result
	case result == nil:
		return err
	case lost:
		return &Error{Status: ErrLost, Key: l.key, Message: "the lock was lost, " + result.Error(), cause: result}
	}
	return result
}

// drop gives back a lock that was collected before it was released. Behind a ReleaseNowait it ends
// the wait for a loss.
func (l *Lock) drop() {
	l.client.poller.forget(l.tag)
	l.lease.end()
	if l.handle != 0 {
		raw.LockFree(l.handle)
	}
}
