package lockc_test

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"testing"
	"time"

	"lockc"
)

func TestReleaseNowait_Held_IsOverHereAtOnceAndThereSoon(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	for i := 0; i < 100; i++ {
		lock, err := client.TryAcquire(context.Background(), key, nil)
		if err != nil {
			t.Fatal(i, err)
		}
		ctx := lock.Context(context.Background())
		if err := lock.ReleaseNowait(); err != nil {
			t.Fatal(err)
		}
		if ctx.Err() == nil || lock.Remaining() != 0 || !errors.Is(lock.Err(), lockc.ErrNotHeld) {
			t.Fatalf("context %v, remaining %s, err %v", ctx.Err(), lock.Remaining(), lock.Err())
		}
		if first, second := lock.ReleaseNowait(), lock.Release(); !errors.Is(first, lockc.ErrNotHeld) ||
			!errors.Is(second, lockc.ErrNotHeld) {
			t.Fatal(first, second)
		}
	}
	until(t, "the key is free", func() bool { return isFree(t, key) })
}

func TestReleaseNowait_KeyOfAnother_IsToldLost(t *testing.T) {
	key := keyOf(t)
	lock := acquire(t, open(t, nil), key, nil)
	redis(t, serverURL, "SET", key, "somebody", "PX", "60000")
	if err := lock.ReleaseNowait(); err != nil {
		t.Fatal(err)
	}
	untilClosed(t, "Lost", lock.Lost())
	if err := lock.Err(); !errors.Is(err, lockc.ErrLost) {
		t.Errorf("Err: %v", err)
	}
	if value := redis(t, serverURL, "GET", key); value != "somebody" {
		t.Errorf("the key has %q", value)
	}
	runtime.KeepAlive(lock)
}

func TestReleaseNowait_LostBefore_SaysSo(t *testing.T) {
	lock := acquire(t, open(t, nil), keyOf(t), &lockc.AcquireOptions{TTL: 50 * time.Millisecond})
	untilClosed(t, "Lost", lock.Lost())
	if err := lock.ReleaseNowait(); !errors.Is(err, lockc.ErrLost) {
		t.Error(err)
	}
}

func TestReleaseNowait_FrozenServer_KeepsNobody(t *testing.T) {
	frozen := startServer(t)
	client := openAt(t, frozen.url, &lockc.Options{ReplyTimeout: time.Minute})
	lock := acquire(t, client, "key", nil)
	frozen.signal(t, syscall.SIGSTOP)
	began := time.Now()
	err := lock.ReleaseNowait()
	took := time.Since(began)
	frozen.signal(t, syscall.SIGCONT)
	if err != nil || took > 10*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	until(t, "the key is free", func() bool { return redis(t, frozen.url, "EXISTS", "key") == "0" })
}

func TestReleaseNowait_ClientClosed_AnswersClosed(t *testing.T) {
	client := open(t, nil)
	lock := acquire(t, client, keyOf(t), nil)
	client.Close()
	if err := lock.ReleaseNowait(); !errors.Is(err, lockc.ErrClosed) {
		t.Error(err)
	}
}
