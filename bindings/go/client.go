package lockc

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"lockc/internal/raw"
)

// A Client is a set of connections to one server and the locks taken through it. Make one per
// process and server and use it from any goroutine; it lives until Close.
type Client struct {
	// A call into the core is made under the reading side; Close takes the writing side before it
	// takes the core away. Nobody waits for a lock with it.
	mu     sync.RWMutex
	closed bool
	client uintptr
	poller *poller

	connectTimeout time.Duration
	replyTimeout   time.Duration
	parked         int32 // releases that keep a thread at this moment
	questions      chan struct{}
}

// Releases beyond so many at a time go through the queue instead of keeping a thread each.
const maxParked = 4

// Open checks url and options and starts a client. It sends nothing: what only the server can tell
// is told by the first operation, or by Connect.
//
// A url is redis://[user[:password]@]host[:port][/db] or unix:///path[?db=n]. Where it is empty the
// environment's LOCKC_URL counts, else redis://127.0.0.1:6379. Options may be nil.
func Open(url string, options *Options) (*Client, error) {
	if options == nil {
		options = &Options{}
	}
	handle, err := options.open(url)
	if err != nil {
		return nil, err
	}
	var answer raw.Answer
	queue := raw.QueueOpen(handle, &answer)
	if err := answered(&answer, ""); err != nil {
		raw.ClientClose(handle)
		return nil, err
	}
	poller, err := startPoller(queue)
	if err != nil {
		raw.ClientClose(handle)
		raw.QueueClose(queue)
		return nil, err
	}
	return &Client{
		client: handle, poller: poller,
		connectTimeout: orDefault(options.ConnectTimeout, time.Second),
		replyTimeout:   orDefault(options.ReplyTimeout, time.Second),
		questions:      make(chan struct{}, maxQuestions),
	}, nil
}

// Close releases what is held, ends what waits with ErrClosed, and ends the client. It takes at most
// about Options.ReplyTimeout. It may be called at any time and more than once.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	raw.ClientClose(c.client)
	c.poller.stop()
	raw.QueueClose(c.poller.queue)
	return nil
}

// enter opens a call into the core, which leave ends, or reports that the client is closed.
func (c *Client) enter(key string) error {
	c.mu.RLock()
	if c.closed {
		c.mu.RUnlock()
		return failure(ErrClosed, key)
	}
	return nil
}

func (c *Client) leave() { c.mu.RUnlock() }

// Do acquires key, runs fn with the lock and a context that ends when the lease is lost, and
// releases the lock, also when fn panics. Without the lock fn isn't run. The error of fn comes first;
// if the lock was lost meanwhile, ErrLost is found in the error as well unless the options are
// Permissive.
func (c *Client) Do(ctx context.Context, key string, options *AcquireOptions,
	fn func(ctx context.Context, lock *Lock) error) (err error) {
	lock, err := c.Acquire(ctx, key, options)
	if err != nil {
		return err
	}
	defer func() { err = lock.settle(err) }()
	return fn(lock.Context(ctx), lock)
}

// Connect waits until a connection to the server stands, so that a program can tell at its start what
// is wrong with the server. It takes until ctx ends, or Options.ConnectTimeout where ctx has no end.
func (c *Client) Connect(ctx context.Context) error {
	if cause := ctx.Err(); cause != nil {
		return ended(cause, "")
	}
	timeout := c.connectTimeout
	if deadline, bounded := ctx.Deadline(); bounded {
		timeout = time.Until(deadline)
	}
	done := make(chan error, 1)
	go func() { done <- c.connect(timeout) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ended(ctx.Err(), "")
	}
}

func (c *Client) connect(timeout time.Duration) error {
	if err := c.enter(""); err != nil {
		return err
	}
	defer c.leave()
	var answer raw.Answer
	raw.Connect(c.client, milliseconds(timeout), &answer)
	return answered(&answer, "")
}

// release gives a grant back. The answer's Lock is the handle where that is to be repeated, else 0.
func (c *Client) release(handle uintptr, key string) (answer raw.Answer, err error) {
	if err := c.enter(key); err != nil {
		raw.LockFree(handle)
		return answer, err
	}
	if atomic.AddInt32(&c.parked, 1) <= maxParked {
		raw.Release(handle, &answer)
		c.leave()
	} else {
		answer = c.queueRelease(handle)
	}
	atomic.AddInt32(&c.parked, -1)
	return answer, answered(&answer, key)
}

// releaseNowait gives a grant back and ends its handle, without an answer.
func (c *Client) releaseNowait(handle uintptr, key string) error {
	if err := c.enter(key); err != nil {
		raw.LockFree(handle)
		return err
	}
	defer c.leave()
	var answer raw.Answer
	raw.ReleaseNowait(handle, &answer)
	return answered(&answer, key)
}

// queueRelease is release without a thread that waits. It leaves the core as soon as it has asked.
func (c *Client) queueRelease(handle uintptr) (answer raw.Answer) {
	op := c.poller.begin(nil)
	raw.QueueRelease(c.poller.queue, op.tag, handle, &answer)
	c.leave()
	if answer.Status == raw.Pending {
		answer = <-op.answer
	}
	c.poller.finish(op)
	if answer.Status < 0 {
		answer.Lock = handle
	} else {
		raw.LockFree(handle)
	}
	return answer
}
