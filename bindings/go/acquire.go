package lockc

import (
	"context"
	"runtime"
	"time"

	"lockc/internal/raw"
)

// When a deadline is over the core has this long to tell its own reason for not granting, say that
// the server can't be reached, before the wait is cancelled.
const deadlineGrace = 20 * time.Millisecond

// Acquire waits for key until it is granted or ctx ends. The error of an ended ctx matches ctx.Err()
// and ErrTimeout or ErrCancelled; where trouble with the server lasted until the deadline, it matches
// that trouble's status. Options may be nil. Waiting keeps no thread.
func (c *Client) Acquire(ctx context.Context, key string, options *AcquireOptions) (*Lock, error) {
	wait := int64(raw.WaitForever)
	if deadline, bounded := ctx.Deadline(); bounded {
		left := time.Until(deadline)
		if left <= 0 {
			return nil, ended(context.DeadlineExceeded, key)
		}
		wait = milliseconds(left)
	}
	return c.acquire(ctx, key, options, wait)
}

// TryAcquire asks for key once. It fails with ErrBusy where another owner has it, and tells trouble
// with the server at once. Options may be nil.
func (c *Client) TryAcquire(ctx context.Context, key string, options *AcquireOptions) (*Lock, error) {
	return c.acquire(ctx, key, options, 0)
}

func (c *Client) acquire(ctx context.Context, key string, options *AcquireOptions, wait int64) (*Lock, error) {
	if cause := ctx.Err(); cause != nil {
		return nil, ended(cause, key)
	}
	terms, err := options.terms(key)
	if err != nil {
		return nil, err
	}
	if err := c.enter(key); err != nil {
		return nil, err
	}
	lease := &lease{permissive: terms.flags&raw.Permissive != 0}
	op := c.poller.begin(lease)
	answer := new(raw.Answer)
	raw.QueueAcquire(c.poller.queue, op.tag, key, terms.flags, terms.kind, terms.maxTries, terms.ttlMS,
		wait, terms.maxHoldMS, terms.owner, c.inlineTrip(ctx, wait), answer)
	c.leave()
	if answer.Status == raw.Pending {
		*answer = c.await(ctx, op, wait)
		if answer.Status == raw.OK && ctx.Err() != nil { // too late: it is given back
			discard(answer)
			answer.Status = raw.Cancelled
		}
	}
	if answer.Status != raw.OK {
		c.poller.finish(op)
		return nil, refused(ctx, answer, key)
	}
	answerChannels.Put(op.answer)
	lock := &Lock{
		client: c, key: key, token: answer.Token, lease: lease, tag: op.tag, handle: answer.Lock,
	}
	runtime.SetFinalizer(lock, (*Lock).drop)
	return lock, nil
}

// inlineTrip says whether the request's first round trip may be made by the calling thread. That trip
// ends with wait, but for a single try only after the reply timeout: too late for a near deadline.
func (c *Client) inlineTrip(ctx context.Context, wait int64) int32 {
	if deadline, bounded := ctx.Deadline(); bounded && wait == 0 && time.Until(deadline) < c.replyTimeout {
		return 0
	}
	return 1
}

// await returns the answer to an acquire, which a ctx that ends brings about.
func (c *Client) await(ctx context.Context, op operation, wait int64) raw.Answer {
	select {
	case answer := <-op.answer:
		return answer
	case <-ctx.Done():
	}
	if wait > 0 && ctx.Err() == context.DeadlineExceeded {
		grace := time.NewTimer(deadlineGrace)
		defer grace.Stop()
		select {
		case answer := <-op.answer:
			return answer
		case <-grace.C:
		}
	}
	if c.enter("") == nil {
		raw.QueueCancel(c.poller.queue, op.tag)
		c.leave()
	}
	return <-op.answer
}

// refused is the error of an acquire within ctx that was not granted.
func refused(ctx context.Context, answer *raw.Answer, key string) *Error {
	cause := ctx.Err()
	deadline, bounded := ctx.Deadline()
	if cause == nil && (answer.Status == raw.Timeout || bounded && time.Until(deadline) <= 0) {
		cause = context.DeadlineExceeded // the core's timer was faster than that of ctx
	}
	switch answer.Status {
	case raw.Timeout, raw.Cancelled:
		return ended(cause, key)
	}
	err := failed(answer, key)
	err.cause = cause
	return err
}
