package lockc

import (
	"math"
	"strconv"
	"strings"
	"time"

	"lockc/internal/raw"
)

// Options of a Client. A zero value means the default.
type Options struct {
	ConnectTimeout time.Duration // name look-up, connect and log-in; default 1 s
	ReplyTimeout   time.Duration // a connection without an answer for so long is given up; default 1 s
	MaxWaiters     int           // bound of operations that wait for a lock; default none
	KeyPrefix      string        // put before every key
	ClientName     string        // shown by CLIENT LIST; default host/pid
	Username       string        // in place of the URL's
	Password       string        // in place of the URL's
	DefaultTTL     time.Duration // ttl of acquires that name none; 10 ms to a year; default 30 s
	RenewEvery     time.Duration // default a third of each lock's ttl; at most half of DefaultTTL
	FenceRetention time.Duration // how long the last token of an idle key is kept; default 60 s
	RenewBatch     int           // keys per renewal command; 1 to 1000; default 128
	HandoverMax    int           // grants in a row inside this client; 1 to 1000; default 8
	Handover       time.Duration // ... and for at most so long; default 20 ms
	SpinMin        time.Duration // back-off of AcquireOptions.Spin and of foreign holders, from; 2 ms
	SpinMax        time.Duration // ... up to; default 250 ms
	LogFD          int           // warnings go to this descriptor, one line each; default nowhere
}

func (o *Options) open(url string) (uintptr, error) {
	var check checker
	var answer raw.Answer
	url = check.text("url", url)
	connectTimeout := check.span("ConnectTimeout", o.ConnectTimeout)
	replyTimeout := check.span("ReplyTimeout", o.ReplyTimeout)
	maxWaiters := check.count("MaxWaiters", o.MaxWaiters)
	keyPrefix := check.text("KeyPrefix", o.KeyPrefix)
	clientName := check.text("ClientName", o.ClientName)
	username := check.text("Username", o.Username)
	password := check.text("Password", o.Password)
	renewBatch := check.count("RenewBatch", o.RenewBatch)
	handoverMax := check.count("HandoverMax", o.HandoverMax)
	handover := check.span("Handover", o.Handover)
	spinMin := check.span("SpinMin", o.SpinMin)
	spinMax := check.span("SpinMax", o.SpinMax)
	logFD := check.descriptor("LogFD", o.LogFD)
	if err := check.err(); err != nil {
		return 0, err
	}
	client := raw.Open(url, connectTimeout, replyTimeout, maxWaiters, keyPrefix, clientName,
		username, password, milliseconds(o.DefaultTTL), milliseconds(o.RenewEvery),
		milliseconds(o.FenceRetention), renewBatch, handoverMax, handover, spinMin, spinMax,
		logFD, &answer)
	return client, answered(&answer, "")
}

// AcquireOptions say how a lock is asked for and kept. How long to wait is said by the context.
type AcquireOptions struct {
	TTL        time.Duration // length of the lease, 10 ms to a year; default Options.DefaultTTL
	Renew      bool          // renew in the background: the default without a TTL
	NoRenew    bool          // a fixed lease: the default with a TTL
	MaxHold    time.Duration // renewal stops so long after the grant; default no bound
	Fair       bool          // strictly first come, first served over all clients
	Owner      uint64        // not 0: this owner may enter again while it holds the lock
	Spin       bool          // wait by asking with jittered back-off instead of queueing
	MaxTries   int           // with Spin: ErrBusy after so many; default bounded by the context
	Permissive bool          // loss is told, no more: neither Context is cancelled nor does Do fail
	Unfenced   bool          // efficiency lock without a fencing token; Token answers 0
}

// terms are AcquireOptions as the core takes them.
type terms struct {
	flags     uint32
	kind      int32
	maxTries  uint32
	ttlMS     int64
	maxHoldMS int64
	owner     uint64
}

func (o *AcquireOptions) terms(key string) (terms, error) {
	if o == nil {
		return terms{}, nil
	}
	check := checker{key: key}
	t := terms{
		flags: flag(o.Renew, raw.Renew) | flag(o.NoRenew, raw.NoRenew) | flag(o.Spin, raw.Spin) |
			flag(o.Permissive, raw.Permissive) | flag(o.Unfenced, raw.Unfenced),
		kind:      raw.Exclusive,
		maxTries:  check.count("MaxTries", o.MaxTries),
		ttlMS:     milliseconds(o.TTL),
		maxHoldMS: milliseconds(o.MaxHold),
		owner:     o.Owner,
	}
	if o.Fair {
		t.kind = raw.Fair
	}
	return t, check.err()
}

func flag(set bool, bit uint32) uint32 {
	if set {
		return bit
	}
	return 0
}

// milliseconds rounds away from zero, so that no duration but 0 becomes the default.
func milliseconds(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	switch rest := d % time.Millisecond; {
	case rest > 0:
		return ms + 1
	case rest < 0:
		return ms - 1
	}
	return ms
}

// A checker narrows option values to the widths of the core and remembers the first that doesn't fit.
type checker struct {
	key   string
	first *Error
}

func (c *checker) refuse(option, why string) {
	if c.first == nil {
		c.first = &Error{Status: ErrInvalid, Key: c.key, Message: option + " " + why}
	}
}

func (c *checker) count(option string, n int) uint32 {
	return c.narrow(option, int64(n), strconv.Itoa(n))
}

func (c *checker) descriptor(option string, fd int) int32 {
	if fd < 0 || fd > math.MaxInt32 {
		c.refuse(option, "isn't a file descriptor: "+strconv.Itoa(fd))
		return 0
	}
	return int32(fd)
}

func (c *checker) span(option string, d time.Duration) uint32 {
	return c.narrow(option, milliseconds(d), d.String())
}

func (c *checker) narrow(option string, n int64, shown string) uint32 {
	if n < 0 || n > math.MaxUint32 {
		c.refuse(option, "is out of range: "+shown)
		return 0
	}
	return uint32(n)
}

// text refuses NUL, at which the core would end the text. The value isn't shown: it may be secret.
func (c *checker) text(option, s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		c.refuse(option, "contains a NUL byte")
	}
	return s
}

func (c *checker) err() error {
	if c.first == nil {
		return nil
	}
	return c.first
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}
