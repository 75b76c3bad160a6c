package lockc_test

import (
	"context"
	"math/rand"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lockc"
)

// scaled is the first number, or the second where LOCKC_SCALE is "full".
func scaled(small, full int) int {
	if os.Getenv("LOCKC_SCALE") == "full" {
		return full
	}
	return small
}

func TestAcquire_CancelledWhileWaiting_EndsAndLeavesNothing(t *testing.T) {
	holder, waiter, key := open(t, nil), open(t, nil), keyOf(t)
	lock := acquire(t, holder, key, nil)
	ctx, cancel := context.WithCancel(context.Background())
	waiting := acquiring(ctx, waiter, key, nil)
	untilQueued(t, serverURL, key, 1)
	cancel()
	expectEnd(t, outcome(t, waiting).err, ctx)
	untilQueued(t, serverURL, key, 0)
	if lock.Release(); !isFree(t, key) {
		t.Error("the waiter left something behind")
	}
}

// expectQuick checks that cancel ends a wait at once, whatever bounds that wait has. A busy machine may
// hold up one or the other, but not each of so many.
func expectQuick(t *testing.T, cancelled func(ctx context.Context, cancel func(), number int)) {
	t.Helper()
	const attempts, bound = 20, 100 * time.Millisecond
	best := patience
	for i := 0; i < attempts && best > bound; i++ {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		var start time.Time
		cancelled(ctx, func() { start = time.Now(); cancel() }, i)
		if took := time.Since(start); took < best {
			best = took
		}
	}
	if best > bound {
		t.Errorf("each of %d waits went on after its cancel, for %s at least", attempts, best)
	}
}

func TestAcquire_CancelledWhileWaiting_EndsAtOnce(t *testing.T) {
	holder, waiter, key := open(t, nil), open(t, nil), keyOf(t)
	defer acquire(t, holder, key, nil).Release()
	expectQuick(t, func(ctx context.Context, cancel func(), _ int) {
		waiting := acquiring(ctx, waiter, key, nil)
		untilQueued(t, serverURL, key, 1)
		cancel()
		expectEnd(t, outcome(t, waiting).err, ctx)
	})
}

func TestAcquire_CancelledWhileTheServerIsFrozen_EndsAtOnce(t *testing.T) {
	server := startServer(t)
	holder, waiter := openAt(t, server.url, nil), openAt(t, server.url, nil)
	expectQuick(t, func(ctx context.Context, cancel func(), number int) {
		key := strconv.Itoa(number)
		defer acquire(t, holder, key, nil).Release()
		waiting := acquiring(ctx, waiter, key, nil)
		untilQueued(t, server.url, key, 1)
		server.signal(t, syscall.SIGSTOP)
		defer server.signal(t, syscall.SIGCONT) // before the Release
		cancel()
		expectEnd(t, outcome(t, waiting).err, ctx)
	})
}

func TestAcquire_CancelledAsItIsGranted_NeverLeavesTheKeyHeld(t *testing.T) {
	holder, waiter, key := open(t, nil), open(t, nil), keyOf(t)
	rounds, latest := scaled(100, 2000), time.Duration(scaled(8, 50))*time.Millisecond
	granted := 0
	for i := 0; i < rounds; i++ {
		lock := acquireWithin(t, 5*time.Second, holder, key, nil) // far less than an orphan's ttl
		ctx, cancel := context.WithCancel(context.Background())
		waiting := acquiring(ctx, waiter, key, &lockc.AcquireOptions{Fair: i%4 > 1})
		if i%2 == 0 {
			untilQueued(t, serverURL, key, 1)
		}
		released := make(chan error, 1)
		time.AfterFunc(time.Duration(rand.Int63n(int64(latest))), func() { released <- lock.Release() })
		time.AfterFunc(latest/2, cancel)
		if got := outcome(t, waiting); got.err == nil {
			granted++
			got.lock.Release()
		} else {
			expectEnd(t, got.err, ctx)
		}
		if err := <-released; err != nil {
			t.Error(err)
		}
	}
	if granted == 0 || granted == rounds {
		t.Errorf("%d of %d were granted: that is no race", granted, rounds)
	}
	until(t, "the key is free", func() bool { return isFree(t, key) })
	untilQueued(t, serverURL, key, 0)
}
