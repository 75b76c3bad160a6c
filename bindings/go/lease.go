package lockc

import (
	"context"
	"sync"
)

// A lease is the part of a Lock that the poller knows: whether it was lost, and whom to tell. It
// doesn't refer to its Lock, so a Lock that is dropped can be collected.
type lease struct {
	permissive bool

	mu       sync.Mutex
	lost     bool
	over     bool          // lost or released
	signal   chan struct{} // made when first asked for; closed on loss
	contexts []cancellable
}

type cancellable struct {
	context context.Context
	cancel  context.CancelFunc
}

func (l *lease) isLost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// lose closes the signal and cancels the contexts, the latter unless loss is permitted.
func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return
	}
	l.lost = true
	if l.signal != nil {
		close(l.signal)
	}
	if !l.permissive {
		l.cancelAll()
	}
}

// end cancels the contexts because the lock is being given back.
func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancelAll()
}

func (l *lease) cancelAll() {
	l.over = true
	for _, c := range l.contexts {
		c.cancel()
	}
	l.contexts = nil
}

func (l *lease) lostSignal() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.signal == nil {
		l.signal = make(chan struct{})
		if l.lost {
			close(l.signal)
		}
	}
	return l.signal
}

// derive returns a child of parent that ends with the lease.
func (l *lease) derive(parent context.Context) context.Context {
	child, cancel := context.WithCancel(parent)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		cancel()
		return child
	}
	live := l.contexts[:0]
	for _, c := range l.contexts { // those that ended by their parents needn't be kept
		if c.context.Err() == nil {
			live = append(live, c)
		}
	}
	l.contexts = append(live, cancellable{child, cancel})
	return child
}
