package lockc_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockc"
)

func TestAcquire_FreeKey_IsHeldWithExpiryUntilRelease(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	lock := acquire(t, client, key, nil)
	if lock.Key() != key || lock.Token() == 0 || lock.Err() != nil {
		t.Errorf("key %q, token %d, err %v", lock.Key(), lock.Token(), lock.Err())
	}
	if left := lock.Remaining(); left < 20*time.Second || left > 30*time.Second {
		t.Errorf("remaining %s of a 30 s lease", left)
	}
	if pttl, _ := strconv.Atoi(redis(t, serverURL, "PTTL", key)); pttl <= 0 || pttl > 30000 {
		t.Errorf("the key expires in %d ms", pttl)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if !isFree(t, key) {
		t.Error("the key is still there after Release")
	}
}

func TestAcquire_Again_GetsALargerToken(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	last := uint64(0)
	for i := 0; i < 20; i++ {
		lock := acquire(t, client, key, nil)
		if lock.Token() <= last {
			t.Fatalf("token %d after %d", lock.Token(), last)
		}
		last = lock.Token()
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAcquire_KeyOfAnyBytes_IsUsedAsItIs(t *testing.T) {
	client := open(t, nil)
	key := keyOf(t) + "\x00\xff{\r\n%s'\""
	lock := acquire(t, client, key, nil)
	defer lock.Release()
	if isFree(t, key) {
		t.Error("the server doesn't have the key")
	}
}

func TestTryAcquire_BusyKey_FailsWithBusy(t *testing.T) {
	holder, other, key := open(t, nil), open(t, nil), keyOf(t)
	lock := acquire(t, holder, key, nil)
	for name, client := range map[string]*lockc.Client{"same client": holder, "other client": other} {
		if _, err := client.TryAcquire(context.Background(), key, nil); !errors.Is(err, lockc.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	lock.Release()
	again, err := other.TryAcquire(context.Background(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
}

func TestAcquire_ContextAlreadyOver_SendsNothing(t *testing.T) {
	server := startServer(t)
	client := openAt(t, server.url, nil)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancelLate()
	for _, ctx := range []context.Context{cancelled, late} {
		_, err := client.Acquire(ctx, "key", nil)
		expectEnd(t, err, ctx)
		_, err = client.TryAcquire(ctx, "key", nil)
		expectEnd(t, err, ctx)
		err = client.Do(ctx, "key", nil, func(context.Context, *lockc.Lock) error {
			t.Error("ran without the lock")
			return nil
		})
		expectEnd(t, err, ctx)
	}
	if stats := redis(t, server.url, "INFO", "commandstats"); strings.Contains(stats, "eval") {
		t.Errorf("commands were sent: %s", stats)
	}
}

// expectEnd checks that err tells the end of ctx in both languages.
func expectEnd(t *testing.T, err error, ctx context.Context) {
	t.Helper()
	status := lockc.ErrCancelled
	if ctx.Err() == context.DeadlineExceeded {
		status = lockc.ErrTimeout
	}
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) || !errors.Is(err, status) {
		t.Errorf("%v tells neither %v nor %v", err, ctx.Err(), status)
	}
}

func TestAcquire_DeadlineWhileWaiting_FailsWithTimeout(t *testing.T) {
	holder, waiter, key := open(t, nil), open(t, nil), keyOf(t)
	lock := acquire(t, holder, key, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := waiter.Acquire(ctx, key, nil)
	<-ctx.Done()
	expectEnd(t, err, ctx)
	if lock.Release(); !isFree(t, key) {
		t.Error("the waiter left something behind")
	}
}

func TestAcquire_Released_GoesToTheWaiter(t *testing.T) {
	holder, waiter, key := open(t, nil), open(t, nil), keyOf(t)
	for _, options := range []*lockc.AcquireOptions{nil, {Fair: true}, {TTL: 5 * time.Second}, {Spin: true}} {
		first := acquire(t, holder, key, nil)
		waiting := acquiring(context.Background(), waiter, key, options)
		if options == nil || !options.Spin {
			untilQueued(t, serverURL, key, 1)
		}
		first.Release()
		got := outcome(t, waiting)
		if got.err != nil {
			t.Fatal(got.err)
		}
		second := got.lock
		if second.Token() <= first.Token() {
			t.Errorf("token %d after %d", second.Token(), first.Token())
		}
		second.Release()
	}
}

func TestAcquire_SameOwner_EntersAgain(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	mine := &lockc.AcquireOptions{Owner: 7}
	outer := acquire(t, client, key, mine)
	inner, err := client.TryAcquire(context.Background(), key, mine)
	if err != nil {
		t.Fatal(err)
	}
	if inner.Token() != outer.Token() {
		t.Errorf("tokens %d and %d", inner.Token(), outer.Token())
	}
	if _, err := client.TryAcquire(context.Background(), key, &lockc.AcquireOptions{Owner: 8}); !errors.Is(err, lockc.ErrBusy) {
		t.Errorf("another owner: %v", err)
	}
	if inner.Release(); isFree(t, key) {
		t.Error("released by the inner one")
	}
	if outer.Release(); !isFree(t, key) {
		t.Error("not released by the outer one")
	}
}

func TestAcquire_Unfenced_HasNoToken(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	lock := acquire(t, client, key, &lockc.AcquireOptions{Unfenced: true})
	defer lock.Release()
	if lock.Token() != 0 {
		t.Errorf("token %d", lock.Token())
	}
}
