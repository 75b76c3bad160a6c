package lockc

import (
	"os"
	"sync"
	"syscall"

	"lockc/internal/raw"
)

// A poller takes what comes out of a client's completion queue, in one goroutine, and hands each
// answer to whom it is for. It waits for the queue's descriptor in Go's own network poller: however
// many goroutines wait for locks, no thread does.
type poller struct {
	queue uintptr
	batch []raw.Answer // what the goroutine takes at once
	fd    *os.File
	done  chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	lastTag uint64
	open    map[uint64]operation
}

// An operation is what the core knows by a tag: its answer is awaited, and from an acquire on the
// loss of its lease.
type operation struct {
	tag    uint64
	answer chan raw.Answer // room for one, so that the poller never waits for anybody
	lease  *lease          // nil but for an acquire
}

var answerChannels = sync.Pool{New: func() interface{} { return make(chan raw.Answer, 1) }}

func startPoller(queue uintptr) (*poller, error) {
	fd := int(raw.QueueDup(queue))
	if fd < 0 {
		return nil, &Error{Status: ErrInternal, Message: "no file descriptor is left for the queue"}
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return nil, &Error{Status: ErrInternal, Message: "the queue can't be polled", cause: err}
	}
	p := &poller{
		queue: queue,
		batch: make([]raw.Answer, 64),
		fd:    os.NewFile(uintptr(fd), "lockc queue"),
		done:  make(chan struct{}),
		open:  make(map[uint64]operation),
	}
	conn, err := p.fd.SyscallConn()
	if err != nil {
		p.fd.Close()
		return nil, &Error{Status: ErrInternal, Message: "the queue can't be polled", cause: err}
	}
	go p.run(conn)
	return p, nil
}

// run ends when the descriptor is closed.
func (p *poller) run(conn syscall.RawConn) {
	defer close(p.done)
	for conn.Read(func(uintptr) bool { return p.drain() > 0 }) == nil {
	}
}

// stop ends the goroutine and hands out what was still in the queue.
func (p *poller) stop() {
	p.fd.Close()
	<-p.done
	p.drain()
}

// drain empties the queue and returns how many answers were in it.
func (p *poller) drain() int {
	for total := 0; ; {
		count := int(raw.QueuePoll(p.queue, p.batch))
		if count <= 0 {
			return total
		}
		total += count
		for i := range p.batch[:count] {
			p.deliver(&p.batch[i])
		}
	}
}

func (p *poller) deliver(answer *raw.Answer) {
	p.mu.Lock()
	op, known := p.open[answer.Tag]
	p.mu.Unlock()
	switch {
	case !known: // the operation was given up, or its lock was released
		discard(answer)
	case answer.Kind == raw.EventLost:
		op.lease.lose()
	default:
		op.answer <- *answer
	}
}

// discard frees what an answer brings that nobody takes: a grant is released behind it.
func discard(answer *raw.Answer) {
	raw.LockFree(answer.Lock)
	raw.ErrorFree(answer.Error)
}

// begin starts an operation, with the lease that an acquire is for. It ends by finish or forget.
func (p *poller) begin(lease *lease) operation {
	op := operation{answer: answerChannels.Get().(chan raw.Answer), lease: lease}
	p.mu.Lock()
	p.lastTag++
	op.tag = p.lastTag
	p.open[op.tag] = op
	p.mu.Unlock()
	return op
}

// finish ends an operation that was answered: nothing comes into its channel any more.
func (p *poller) finish(op operation) {
	p.forget(op.tag)
	answerChannels.Put(op.answer)
}

// forget ends an operation whose answer nobody will take, or the wait for the loss of a lease.
func (p *poller) forget(tag uint64) {
	p.mu.Lock()
	delete(p.open, tag)
	p.mu.Unlock()
}
