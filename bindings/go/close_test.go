package lockc_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"lockc"
)

func TestClose_ReleasesLocksAndEndsWaiters(t *testing.T) {
	holder, client, key := open(t, nil), open(t, nil), keyOf(t)
	other := acquire(t, holder, key+"other", nil)
	lock := acquire(t, client, key, nil)
	ctx := lock.Context(context.Background())
	waiting := acquiring(context.Background(), client, key+"other", nil)
	untilQueued(t, serverURL, key+"other", 1)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := outcome(t, waiting).err; !errors.Is(err, lockc.ErrClosed) {
		t.Errorf("the waiter: %v", err)
	}
	untilClosed(t, "Lost", lock.Lost())
	untilClosed(t, "Context", ctx.Done())
	if !isFree(t, key) {
		t.Error("the key is still held")
	}
	if err := lock.Err(); !errors.Is(err, lockc.ErrLost) {
		t.Errorf("Err: %v", err)
	}
	if other.Release(); !isFree(t, key+"other") {
		t.Error("the waiter left something behind")
	}
}

func TestClose_EverythingAfterwards_AnswersClosed(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	lock, ctx := acquire(t, client, key, nil), context.Background()
	client.Close()
	if err := client.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	_, acquireErr := client.Acquire(ctx, key, nil)
	_, tryErr := client.TryAcquire(ctx, key, nil)
	_, inspectErr := client.Inspect(key)
	for name, err := range map[string]error{
		"Acquire": acquireErr, "TryAcquire": tryErr, "Inspect": inspectErr, "Connect": client.Connect(ctx),
		"Extend": lock.Extend(ctx, time.Minute), "Release": lock.Release(),
	} {
		if !errors.Is(err, lockc.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClose_AmidUseAndCollection_AnswersClosedOrNotHeld(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for round := 0; round < 10; round++ {
		client, key := open(t, nil), keyOf(t)
		var all, started sync.WaitGroup
		for i := 0; i < 8; i++ {
			all.Add(1)
			started.Add(1)
			go func(key string) {
				defer all.Done()
				for first := true; ; first = false {
					lock, err := client.Acquire(context.Background(), key, nil)
					if first {
						started.Done()
					}
					if err == nil {
						go lock.Release()
						lock.Remaining()
						lock.Err()
						err = lock.Release()
					}
					if errors.Is(err, lockc.ErrClosed) {
						return
					}
					if err != nil && !errors.Is(err, lockc.ErrNotHeld) && !errors.Is(err, lockc.ErrLost) {
						t.Error(err)
						return
					}
					runtime.GC()
				}
			}(key + strconv.Itoa(i%4))
		}
		started.Wait()
		all.Add(2)
		go func() { defer all.Done(); client.Close() }()
		go func() { defer all.Done(); client.Close() }()
		all.Wait()
	}
}

func TestClose_ByTheGoroutineThatLossWoke_DoesNotBlock(t *testing.T) {
	client, key := open(t, quick), keyOf(t)
	lock := acquire(t, client, key, nil)
	panicked := make(chan interface{}, 1)
	go func() {
		defer func() { panicked <- recover() }()
		<-lock.Lost()
		lock.Release()
		client.Close()
		panic("lost")
	}()
	redis(t, serverURL, "DEL", key)
	select {
	case what := <-panicked:
		if what != "lost" {
			t.Errorf("panicked with %v", what)
		}
	case <-time.After(patience):
		t.Fatal("blocked")
	}
}

func TestClose_LastReferencesDropped_LeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := 0; i < 20; i++ {
		client := open(t, nil)
		acquire(t, client, keyOf(t), nil)
		client.Close()
	}
	until(t, "goroutines are back to "+strconv.Itoa(before), func() bool { return runtime.NumGoroutine() <= before })
}
