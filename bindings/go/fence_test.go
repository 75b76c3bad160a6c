package lockc_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockc"
)

var background = context.Background()

func TestFence_SmallerToken_IsStale(t *testing.T) {
	var fence lockc.Fence
	for _, step := range []struct {
		token uint64
		want  error
	}{{41, nil}, {43, nil}, {42, lockc.ErrStale}, {43, nil}, {0, lockc.ErrInvalid}} {
		if err := fence.Check(step.token); !errors.Is(err, step.want) {
			t.Errorf("Check(%d): %v, not %v", step.token, err, step.want)
		}
	}
	if fence.Token() != 43 {
		t.Errorf("the largest is %d", fence.Token())
	}
}

func TestFence_Goroutines_LetTheLargestWin(t *testing.T) {
	var fence lockc.Fence
	var all sync.WaitGroup
	for first := uint64(1); first <= 4; first++ {
		first := first
		all.Add(1)
		go func() {
			defer all.Done()
			for token := first; token <= 4000; token += 4 {
				if err := fence.Check(token); err != nil && fence.Token() <= token {
					t.Errorf("token %d is refused behind %d", token, fence.Token())
				}
			}
		}()
	}
	all.Wait()
	if fence.Token() != 4000 {
		t.Errorf("the largest is %d", fence.Token())
	}
}

func write(t *testing.T, client *lockc.Client, key, value string, options *lockc.WriteOptions) uint64 {
	t.Helper()
	version, err := client.Write(background, key, []byte(value), options)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func read(t *testing.T, client *lockc.Client, key string) *lockc.Record {
	t.Helper()
	record, err := client.Read(background, key)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func TestRecord_Read_TellsWhatWasWritten(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	if record := read(t, client, key); record.Version != 0 || record.Token != 0 || len(record.Value) != 0 {
		t.Errorf("before: %+v", record)
	}
	version := write(t, client, key, "a\x00\xff", &lockc.WriteOptions{Token: 42, TTL: time.Minute})
	if record := read(t, client, key); record.Version != version || record.Token != 42 ||
		!bytes.Equal(record.Value, []byte("a\x00\xff")) {
		t.Errorf("after: %+v", record)
	}
	if redis(t, serverURL, "PTTL", key) == "-1" {
		t.Error("the record doesn't expire")
	}
	if write(t, client, key, "", nil) <= version {
		t.Error("the version didn't grow")
	}
}

func TestRecord_SmallerToken_IsStale(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	write(t, client, key, "new", &lockc.WriteOptions{Token: 42})
	_, err := client.Write(background, key, []byte("late"), &lockc.WriteOptions{Token: 41})
	var told *lockc.Error
	if !errors.As(err, &told) || told.Status != lockc.ErrStale || told.Key != key {
		t.Errorf("%v", err)
	}
	if record := read(t, client, key); string(record.Value) != "new" {
		t.Errorf("%+v", record)
	}
}

func TestRecord_OtherVersion_IsAConflict(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	first := write(t, client, key, "first", &lockc.WriteOptions{IfVersion: true})
	write(t, client, key, "second", &lockc.WriteOptions{IfVersion: true, Version: first})
	for _, version := range []uint64{first, 0} {
		_, err := client.Write(background, key, []byte("third"),
			&lockc.WriteOptions{IfVersion: true, Version: version})
		if !errors.Is(err, lockc.ErrConflict) {
			t.Errorf("version %d: %v", version, err)
		}
	}
	if record := read(t, client, key); string(record.Value) != "second" {
		t.Errorf("%+v", record)
	}
}

func TestRecord_BadOption_IsInvalid(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	for _, options := range []lockc.WriteOptions{
		{Version: 7}, {Token: 1 << 53}, {TTL: -1}, {TTL: time.Nanosecond}, {IfVersion: true, Version: 1 << 53},
	} {
		if _, err := client.Write(background, key, nil, &options); !errors.Is(err, lockc.ErrInvalid) {
			t.Errorf("%+v: %v", options, err)
		}
	}
	if !isFree(t, key) {
		t.Error("something was written")
	}
}

func TestRecord_KeyOfALock_IsOfAnotherType(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	acquire(t, client, key, nil)
	if _, err := client.Read(background, key); !errors.Is(err, lockc.ErrWrongType) {
		t.Errorf("Read: %v", err)
	}
}

func TestRecord_ContextThatIsOver_SendsNothing(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := client.Read(ctx, key); !errors.Is(err, lockc.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
	if _, err := client.Write(ctx, key, nil, nil); !errors.Is(err, lockc.ErrCancelled) {
		t.Errorf("Write: %v", err)
	}
	if !isFree(t, key) {
		t.Error("something was written")
	}
}

func TestRecord_ContextThatEndsMeanwhile_LeavesTheWriteUncertain(t *testing.T) {
	frozen := startServer(t)
	client := openAt(t, frozen.url, nil)
	if err := client.Connect(background); err != nil {
		t.Fatal(err)
	}
	frozen.signal(t, syscall.SIGSTOP)
	defer frozen.signal(t, syscall.SIGCONT)
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	_, err := client.Write(ctx, "key", nil, nil)
	if !errors.Is(err, lockc.ErrUncertain) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Write: %v", err)
	}
	if _, err := client.Read(ctx, "key"); !errors.Is(err, lockc.ErrTimeout) {
		t.Errorf("Read: %v", err)
	}
}

func TestRecord_ManyGoroutines_WriteOneAfterTheOther(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	const writers = 100
	versions := make(chan uint64, writers)
	for i := 0; i < writers; i++ {
		go func() {
			version, err := client.Write(background, key, []byte("v"), nil)
			if err != nil {
				t.Error(err)
			}
			versions <- version
		}()
	}
	seen := map[uint64]bool{}
	for i := 0; i < writers; i++ {
		seen[<-versions] = true
	}
	if len(seen) != writers {
		t.Errorf("%d versions for %d writes", len(seen), writers)
	}
}

func TestRecord_ClosedClient_AnswersClosed(t *testing.T) {
	client := open(t, nil)
	client.Close()
	if _, err := client.Read(background, "key"); !errors.Is(err, lockc.ErrClosed) {
		t.Errorf("Read: %v", err)
	}
	if _, err := client.Write(background, "key", nil, nil); !errors.Is(err, lockc.ErrClosed) {
		t.Errorf("Write: %v", err)
	}
}

func TestRecord_HolderThatPausedPastItsLease_CannotWriteBehindTheNext(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	paused := acquire(t, client, key, &lockc.AcquireOptions{TTL: time.Second})
	untilClosed(t, "the end of the lease", paused.Lost())
	next := acquire(t, client, key, nil)
	var fence lockc.Fence
	if err := fence.Check(next.Token()); err != nil {
		t.Error(err)
	}
	if err := fence.Check(paused.Token()); !errors.Is(err, lockc.ErrStale) {
		t.Errorf("fence: %v", err)
	}
	data := key + ":data"
	write(t, client, data, "by the next", &lockc.WriteOptions{Token: next.Token()})
	_, err := client.Write(background, data, []byte("late"), &lockc.WriteOptions{Token: paused.Token()})
	if !errors.Is(err, lockc.ErrStale) {
		t.Errorf("record: %v", err)
	}
	if record := read(t, client, data); string(record.Value) != "by the next" {
		t.Errorf("%+v", record)
	}
}
