package lockc_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockc"
)

func TestRelease_Twice_AnswersNotHeld(t *testing.T) {
	lock := acquire(t, open(t, nil), keyOf(t), nil)
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if err := lock.Release(); !errors.Is(err, lockc.ErrNotHeld) {
		t.Errorf("second Release: %v", err)
	}
	if err := lock.Extend(context.Background(), time.Minute); !errors.Is(err, lockc.ErrNotHeld) {
		t.Errorf("Extend: %v", err)
	}
	if err := lock.Err(); !errors.Is(err, lockc.ErrNotHeld) {
		t.Errorf("Err: %v", err)
	}
	if left := lock.Remaining(); left != 0 {
		t.Errorf("remaining %s", left)
	}
	select {
	case <-lock.Lost():
		t.Error("released, and told as lost")
	default:
	}
}

func TestRelease_ContextOfTheAcquireOver_Works(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	ctx, cancel := context.WithCancel(context.Background())
	lock, err := client.Acquire(ctx, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := lock.Err(); err != nil {
		t.Errorf("not held after its context: %v", err)
	}
	if err := lock.Release(); err != nil || !isFree(t, key) {
		t.Errorf("err %v, free %t", err, isFree(t, key))
	}
}

func TestExtend_LongerTTL_LengthensTheLease(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	lock := acquire(t, client, key, &lockc.AcquireOptions{TTL: 5 * time.Second})
	defer lock.Release()
	if err := lock.Extend(context.Background(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if left := lock.Remaining(); left < 50*time.Second {
		t.Errorf("remaining %s", left)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	expectEnd(t, lock.Extend(over, time.Minute), over)
	for _, ttl := range []time.Duration{0, -time.Second, time.Millisecond, time.Nanosecond} {
		if err := lock.Extend(context.Background(), ttl); !errors.Is(err, lockc.ErrInvalid) {
			t.Errorf("%s: %v", ttl, err)
		}
	}
}

func TestLost_KeyOfFixedLeaseExpires_IsTold(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	lock := acquire(t, client, key, &lockc.AcquireOptions{TTL: 100 * time.Millisecond})
	untilClosed(t, "Lost", lock.Lost())
	expectLost(t, lock)
}

// expectLost checks all that a lock says once its lease is lost.
func expectLost(t *testing.T, lock *lockc.Lock) {
	t.Helper()
	if err := lock.Err(); !errors.Is(err, lockc.ErrLost) || !strings.Contains(err.Error(), ": ") {
		t.Errorf("Err: %v", err)
	}
	if left := lock.Remaining(); left != 0 {
		t.Errorf("remaining %s", left)
	}
	if err := lock.Release(); !errors.Is(err, lockc.ErrLost) {
		t.Errorf("Release: %v", err)
	}
	if err := lock.Err(); !errors.Is(err, lockc.ErrLost) {
		t.Errorf("Err after Release: %v", err)
	}
}

// quick renews often, so that a loss is found soon.
var quick = &lockc.Options{RenewEvery: 50 * time.Millisecond}

func TestLost_KeyTakenAway_IsTold(t *testing.T) {
	client, key := open(t, quick), keyOf(t)
	lock := acquire(t, client, key, nil)
	ctx := lock.Context(context.Background())
	redis(t, serverURL, "SET", key, "another owner", "PX", "60000")
	untilClosed(t, "Lost", lock.Lost())
	untilClosed(t, "Context", ctx.Done())
	expectLost(t, lock)
	if value := redis(t, serverURL, "GET", key); value != "another owner" {
		t.Errorf("the other owner's key holds %q", value)
	}
	untilClosed(t, "Context after the loss", lock.Context(context.Background()).Done())
}

func TestLost_Permissive_IsToldButNothingIsCancelled(t *testing.T) {
	client, key := open(t, quick), keyOf(t)
	ran := false
	err := client.Do(context.Background(), key, &lockc.AcquireOptions{Permissive: true},
		func(ctx context.Context, lock *lockc.Lock) error {
			redis(t, serverURL, "DEL", key)
			untilClosed(t, "Lost", lock.Lost())
			ran = ctx.Err() == nil
			return nil
		})
	if err != nil || !ran {
		t.Errorf("err %v, context alive %t", err, ran)
	}
}

func TestLost_MaxHold_EndsTheRenewal(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	lock := acquire(t, client, key, &lockc.AcquireOptions{
		TTL: 200 * time.Millisecond, Renew: true, MaxHold: 100 * time.Millisecond,
	})
	untilClosed(t, "Lost", lock.Lost())
	expectLost(t, lock)
}

func TestRenewal_LeaseShorterThanTheWork_KeepsTheLock(t *testing.T) {
	holder, other, key := open(t, nil), open(t, nil), keyOf(t)
	lock := acquire(t, holder, key, &lockc.AcquireOptions{TTL: 300 * time.Millisecond, Renew: true})
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := other.Acquire(ctx, key, nil); !errors.Is(err, lockc.ErrTimeout) {
		t.Errorf("another owner, three leases later: %v", err)
	}
	if err := lock.Err(); err != nil {
		t.Error(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestContext_EndsWithParentOrRelease(t *testing.T) {
	type name struct{}
	lock := acquire(t, open(t, nil), keyOf(t), nil)
	parent, cancel := context.WithCancel(context.WithValue(context.Background(), name{}, "value"))
	byParent, byRelease := lock.Context(parent), lock.Context(context.Background())
	if byParent.Err() != nil || byRelease.Err() != nil || byParent.Value(name{}) != "value" {
		t.Error("not a live child of its parent")
	}
	cancel()
	untilClosed(t, "the parent's child", byParent.Done())
	if byRelease.Err() != nil {
		t.Error("ended with another's parent")
	}
	lock.Release()
	untilClosed(t, "the context after Release", byRelease.Done())
}

func TestLock_DroppedWithoutRelease_IsGivenBack(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	func() { acquire(t, client, key, nil) }()
	until(t, "the collected lock is free", func() bool {
		runtime.GC()
		return isFree(t, key)
	})
}

func TestLock_OnlyItsContextLeft_IsKept(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	ctx := acquire(t, client, key, nil).Context(context.Background())
	witness := keyOf(t) + "witness"
	func() { acquire(t, client, witness, nil) }()
	until(t, "the witness is collected", func() bool {
		runtime.GC()
		return isFree(t, witness)
	})
	if isFree(t, key) || ctx.Err() != nil {
		t.Errorf("free %t, context %v", isFree(t, key), ctx.Err())
	}
	runtime.KeepAlive(ctx)
}
