package lockc_test

import (
	"context"
	"errors"
	"testing"

	"lockc"
)

func TestDo_HoldsTheLockWhileItRuns(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	err := client.Do(context.Background(), key, nil, func(ctx context.Context, lock *lockc.Lock) error {
		if isFree(t, key) || lock.Err() != nil || ctx.Err() != nil {
			t.Errorf("free %t, lock %v, context %v", isFree(t, key), lock.Err(), ctx.Err())
		}
		return nil
	})
	if err != nil || !isFree(t, key) {
		t.Errorf("err %v, free afterwards %t", err, isFree(t, key))
	}
}

func TestDo_Panic_ReleasesAndGoesOn(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	defer func() {
		if recovered := recover(); recovered != "boom" {
			t.Errorf("recovered %v", recovered)
		}
		if !isFree(t, key) {
			t.Error("still held after the panic")
		}
	}()
	client.Do(context.Background(), key, nil, func(context.Context, *lockc.Lock) error { panic("boom") })
}

func TestDo_Error_IsTheFunctionsAndTellsALoss(t *testing.T) {
	mine := errors.New("mine")
	lose := func(key string, lock *lockc.Lock) {
		redis(t, serverURL, "DEL", key)
		untilClosed(t, "Lost", lock.Lost())
	}
	for name, want := range map[string]struct {
		lost, permissive bool
		result           error
		matches, not     []error
	}{
		"error":                  {result: mine, matches: []error{mine}, not: []error{lockc.ErrLost}},
		"lost":                   {lost: true, matches: []error{lockc.ErrLost}},
		"lost, error":            {lost: true, result: mine, matches: []error{mine, lockc.ErrLost}},
		"lost, permitted, error": {lost: true, permissive: true, result: mine, matches: []error{mine}, not: []error{lockc.ErrLost}},
	} {
		client, key := open(t, quick), keyOf(t)
		err := client.Do(context.Background(), key, &lockc.AcquireOptions{Permissive: want.permissive},
			func(ctx context.Context, lock *lockc.Lock) error {
				if want.lost {
					lose(key, lock)
				}
				return want.result
			})
		for _, target := range want.matches {
			if !errors.Is(err, target) {
				t.Errorf("%s: %v isn't %v", name, err, target)
			}
		}
		for _, target := range want.not {
			if errors.Is(err, target) {
				t.Errorf("%s: %v is %v", name, err, target)
			}
		}
	}
}

func TestDo_ReleasedInside_IsNoError(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	err := client.Do(context.Background(), key, nil, func(ctx context.Context, lock *lockc.Lock) error {
		return lock.Release()
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDo_Busy_DoesNotRun(t *testing.T) {
	holder, client, key := open(t, nil), open(t, nil), keyOf(t)
	defer acquire(t, holder, key, nil).Release()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- client.Do(ctx, key, nil, func(context.Context, *lockc.Lock) error {
			t.Error("ran without the lock")
			return nil
		})
	}()
	untilQueued(t, serverURL, key, 1)
	cancel()
	expectEnd(t, <-done, ctx)
}
