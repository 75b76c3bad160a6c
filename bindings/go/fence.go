package lockc

import (
	"context"
	"sync/atomic"
	"time"

	"lockc/internal/raw"
)

// A Fence is the largest token that a resource of this process has seen, so that it can refuse
// smaller ones. The zero Fence has seen none. It doesn't make checking and writing one step: hold a
// mutex around both. Tokens of different keys don't compare, so each resource has a fence of its own.
type Fence struct {
	largest uint64
}

// Check lets token pass and remembers it. It fails with ErrStale where a larger one came before: the
// lock has had another holder. 0, the token of an unfenced lock, is ErrInvalid.
func (f *Fence) Check(token uint64) error {
	if token == 0 {
		return failure(ErrInvalid, "")
	}
	for {
		largest := atomic.LoadUint64(&f.largest)
		switch {
		case token < largest:
			return failure(ErrStale, "")
		case token == largest || atomic.CompareAndSwapUint64(&f.largest, largest, token):
			return nil
		}
	}
}

// Token returns the largest token so far, 0 where there was none.
func (f *Fence) Token() uint64 { return atomic.LoadUint64(&f.largest) }

// A Record is a value on the server with the numbers that guard it.
type Record struct {
	Value   []byte
	Version uint64 // 0: there is no record
	Token   uint64 // the largest that wrote it; 0: none did
}

// WriteOptions say what must hold for a write.
type WriteOptions struct {
	Token     uint64        // Lock.Token: ErrStale if a larger one wrote before; 0: not fenced
	IfVersion bool          // ErrConflict unless the record has Version
	Version   uint64        // with IfVersion; 0: there must be no record
	TTL       time.Duration // the record expires so long after; default: its expiry stays as it is
}

// Read returns the record at key, with Version 0 and no Value where there is none.
func (c *Client) Read(ctx context.Context, key string) (*Record, error) {
	record := new(Record)
	over, err := c.ask(ctx, key, func(answer *raw.Answer) {
		handle := raw.Read(c.client, key, answer)
		if answer.Status != raw.OK {
			return
		}
		record.Version, record.Token = raw.RecordVersion(handle), raw.RecordToken(handle)
		record.Value = make([]byte, raw.RecordSize(handle))
		raw.RecordTake(handle, record.Value)
	})
	switch {
	case over:
		return nil, ended(ctx.Err(), key)
	case err != nil:
		return nil, err
	}
	return record, nil
}

// Write writes a record of up to 8 MiB and returns its new version, larger than any before. Options
// may be nil. With ErrStale and ErrConflict nothing was written. After ErrUncertain, also that of a ctx
// which ended during the write, it was written or not; it is never sent twice.
func (c *Client) Write(ctx context.Context, key string, value []byte, options *WriteOptions) (uint64, error) {
	if options == nil {
		options = &WriteOptions{}
	}
	terms := *options
	value = append([]byte(nil), value...) // a ctx that ends leaves the write under way
	var version uint64
	over, err := c.ask(ctx, key, func(answer *raw.Answer) {
		version = raw.Write(c.client, key, value, flag(terms.IfVersion, raw.IfVersion),
			terms.Token, terms.Version, milliseconds(terms.TTL), answer)
	})
	switch {
	case over:
		uncertain := failure(ErrUncertain, key)
		uncertain.cause = ctx.Err()
		return 0, uncertain
	case err != nil:
		return 0, err
	}
	return version, nil
}

// As many questions keep a thread each until the server answers; others wait for their turn.
const maxQuestions = 16

// ask puts a question to the server that blocks until the answer. Over says that ctx ended meanwhile:
// then the question may still be under way, and what it fills in isn't to be read.
func (c *Client) ask(ctx context.Context, key string, question func(*raw.Answer)) (over bool, err error) {
	if cause := ctx.Err(); cause != nil {
		return false, ended(cause, key)
	}
	select {
	case c.questions <- struct{}{}:
	case <-ctx.Done():
		return false, ended(ctx.Err(), key)
	}
	answered := make(chan error, 1)
	go func() {
		answered <- c.answer(key, question)
		<-c.questions
	}()
	select {
	case err := <-answered:
		return false, err
	case <-ctx.Done():
		return true, nil
	}
}

func (c *Client) answer(key string, question func(*raw.Answer)) error {
	if err := c.enter(key); err != nil {
		return err
	}
	defer c.leave()
	var answer raw.Answer
	question(&answer)
	return answered(&answer, key)
}
