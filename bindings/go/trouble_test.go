package lockc_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockc"
)

func TestTrouble_NoServer_IsUnreachableWithinTheTimeAskedFor(t *testing.T) {
	client := openAt(t, "unix://"+t.TempDir()+"/none", nil)
	if _, err := client.TryAcquire(context.Background(), "key", nil); !errors.Is(err, lockc.ErrUnreachable) {
		t.Errorf("TryAcquire: %v", err)
	}
	if _, err := client.Inspect("key"); !errors.Is(err, lockc.ErrUnreachable) {
		t.Errorf("Inspect: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := client.Acquire(ctx, "key", nil)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("Acquire took %s", took)
	}
	if !errors.Is(err, lockc.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire: %v", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := client.Connect(ctx); !errors.Is(err, lockc.ErrUnreachable) && !errors.Is(err, lockc.ErrTimeout) {
		t.Errorf("Connect: %v", err)
	}
}

func TestTrouble_ServerStopped_EndsWithTheContext(t *testing.T) {
	server := startServer(t)
	client := openAt(t, server.url, nil)
	if err := client.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	lock := acquire(t, client, "held", nil)
	server.signal(t, syscall.SIGSTOP)
	defer server.signal(t, syscall.SIGCONT)
	for _, operation := range []struct {
		name string
		call func(ctx context.Context) error
	}{ // in this order: only the first finds a connection free
		{"TryAcquire", func(ctx context.Context) error { _, err := client.TryAcquire(ctx, "key", nil); return err }},
		{"Acquire", func(ctx context.Context) error { _, err := client.Acquire(ctx, "key", nil); return err }},
		{"Extend", func(ctx context.Context) error { return lock.Extend(ctx, time.Minute) }},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		start := time.Now()
		err := operation.call(ctx)
		if took := time.Since(start); took > 700*time.Millisecond {
			t.Errorf("%s took %s", operation.name, took)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", operation.name, err)
		}
		cancel()
	}
	start := time.Now()
	err := lock.Release()
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("Release took %s", took)
	}
	if !errors.Is(err, lockc.ErrUncertain) && !errors.Is(err, lockc.ErrUnreachable) {
		t.Errorf("Release: %v", err)
	}
	if lock.Remaining() != 0 || lock.Err() == nil {
		t.Error("still held after its Release")
	}
}

func TestTrouble_ServerStopped_ManyReleasesKeepFewThreads(t *testing.T) {
	server := startServer(t)
	client := openAt(t, server.url, nil)
	var held []*lockc.Lock
	for i := 0; i < 200; i++ {
		held = append(held, acquire(t, client, strconv.Itoa(i), nil))
	}
	before := threads(t)
	server.signal(t, syscall.SIGSTOP)
	defer server.signal(t, syscall.SIGCONT)
	var all sync.WaitGroup
	for _, lock := range held {
		all.Add(1)
		go func(lock *lockc.Lock) { defer all.Done(); lock.Release() }(lock)
	}
	all.Wait()
	if now := threads(t); now > before+50 { // a thread that was needed once stays
		t.Errorf("%d threads after %d releases, %d before", now, len(held), before)
	}
}

func TestTrouble_ServerStopped_LeaseIsLostWhenItsProofEnds(t *testing.T) {
	server := startServer(t)
	client := openAt(t, server.url, &lockc.Options{DefaultTTL: time.Second, ReplyTimeout: 200 * time.Millisecond})
	lock := acquire(t, client, "held", nil)
	ctx := lock.Context(context.Background())
	server.signal(t, syscall.SIGSTOP)
	defer server.signal(t, syscall.SIGCONT)
	start := time.Now()
	untilClosed(t, "Context", ctx.Done())
	if took := time.Since(start); took > time.Second+700*time.Millisecond {
		t.Errorf("told after %s", took)
	}
	untilClosed(t, "Lost", lock.Lost())
	expectLost(t, lock)
}

func TestTrouble_ServerBack_ReleaseIsFinished(t *testing.T) {
	server := startServer(t)
	client := openAt(t, server.url, &lockc.Options{ReplyTimeout: 200 * time.Millisecond})
	lock := acquire(t, client, "held", nil)
	server.signal(t, syscall.SIGSTOP)
	if err := lock.Release(); !errors.Is(err, lockc.ErrUncertain) && !errors.Is(err, lockc.ErrUnreachable) {
		t.Errorf("Release: %v", err)
	}
	server.signal(t, syscall.SIGCONT)
	until(t, "the key is free", func() bool { return redis(t, server.url, "EXISTS", "held") == "0" })
	until(t, "Release tells the end", func() bool {
		err := lock.Release()
		return err == nil || errors.Is(err, lockc.ErrNotHeld)
	})
}

func TestTrouble_WrongPassword_IsDeniedAndNotShown(t *testing.T) {
	server := startServer(t, "--requirepass", "right")
	client := openAt(t, server.url, &lockc.Options{Password: "wr0ng"})
	_, err := client.Acquire(context.Background(), "key", nil)
	if !errors.Is(err, lockc.ErrDenied) || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("wrong: %v", err)
	}
	if err != nil && strings.Count(err.Error(), `"key": `) != 1 {
		t.Errorf("the key isn't named once: %v", err)
	}
	client = openAt(t, server.url, &lockc.Options{Password: "right"})
	if err := acquire(t, client, "key", nil).Release(); err != nil {
		t.Errorf("right: %v", err)
	}
}

func TestTrouble_KeyOfAnotherType_IsWrongType(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	redis(t, serverURL, "LPUSH", key, "element")
	defer redis(t, serverURL, "DEL", key)
	if _, err := client.Acquire(context.Background(), key, nil); !errors.Is(err, lockc.ErrWrongType) {
		t.Error(err)
	}
}
