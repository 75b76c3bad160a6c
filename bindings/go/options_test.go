package lockc_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockc"
)

func TestOpen_BadURLOrOption_IsInvalidAndSaysWhich(t *testing.T) {
	const secret = "s3cret"
	const day = 24 * time.Hour
	for _, bad := range []struct {
		option  string
		options lockc.Options
	}{
		{"ConnectTimeout", lockc.Options{ConnectTimeout: -time.Second}},
		{"ConnectTimeout is 172800000 ms, not", lockc.Options{ConnectTimeout: 2 * day}},
		{"ReplyTimeout", lockc.Options{ReplyTimeout: math.MaxInt64}},
		{"ReplyTimeout", lockc.Options{ReplyTimeout: 2 * day}},
		{"MaxWaiters", lockc.Options{MaxWaiters: -1}},
		{"KeyPrefix", lockc.Options{KeyPrefix: "a\x00b"}},
		{"KeyPrefix", lockc.Options{KeyPrefix: strings.Repeat("a", 5000)}},
		{"ClientName", lockc.Options{ClientName: "a\x00b"}},
		{"ClientName", lockc.Options{ClientName: "a b"}},
		{"Username", lockc.Options{Username: "a\x00b"}},
		{"Password", lockc.Options{Password: secret + "\x00"}},
		{"DefaultTTL", lockc.Options{DefaultTTL: -time.Second}},
		{"DefaultTTL", lockc.Options{DefaultTTL: time.Nanosecond}},
		{"DefaultTTL", lockc.Options{DefaultTTL: 400 * day}},
		{"RenewEvery", lockc.Options{RenewEvery: time.Hour}},
		{"FenceRetention", lockc.Options{FenceRetention: -time.Second}},
		{"RenewBatch", lockc.Options{RenewBatch: -1}},
		{"RenewBatch", lockc.Options{RenewBatch: 1001}},
		{"HandoverMax", lockc.Options{HandoverMax: 1001}},
		{"Handover", lockc.Options{Handover: -time.Second}},
		{"Handover", lockc.Options{Handover: 2 * day}},
		{"SpinMin", lockc.Options{SpinMin: -time.Second}},
		{"SpinMin", lockc.Options{SpinMin: 2 * day}},
		{"SpinMax", lockc.Options{SpinMin: time.Second, SpinMax: time.Millisecond}},
		{"LogFD", lockc.Options{LogFD: -1}},
	} {
		want, options := bad.option+" ", bad.options
		client, err := lockc.Open(serverURL, &options)
		if err == nil {
			client.Close()
		}
		if !errors.Is(err, lockc.ErrInvalid) || !strings.HasPrefix(err.Error(), "lockc: "+want) {
			t.Errorf("%s: %v", want, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the password is shown: %v", err)
		}
	}
	for url, status := range map[string]lockc.Status{
		"http://localhost":                        lockc.ErrInvalid,
		"redis://user:" + secret + "@host:port":   lockc.ErrInvalid,
		"redis://:" + secret + "@localhost:99999": lockc.ErrInvalid,
		"redis://:" + secret + "@localhost/db":    lockc.ErrInvalid,
		"unix://relative":                         lockc.ErrInvalid,
		"redis://localhost\x00:" + secret:         lockc.ErrInvalid,
		"rediss://:" + secret + "@localhost":      lockc.ErrUnsupported,
	} {
		_, err := lockc.Open(url, nil)
		if !errors.Is(err, status) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestAcquire_BadOptions_AreNamedAsInGo(t *testing.T) {
	client, ctx := open(t, nil), context.Background()
	for want, options := range map[string]*lockc.AcquireOptions{
		"MaxHold is negative":        {MaxHold: -time.Second},
		"MaxTries is for Spin only":  {MaxTries: 2},
		"both Renew and NoRenew":     {Renew: true, NoRenew: true},
		"Spin keeps no order, so it": {Spin: true, Fair: true},
	} {
		_, err := client.TryAcquire(ctx, "key", options)
		if !errors.Is(err, lockc.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, options := range map[string]*lockc.WriteOptions{
		"Version is for IfVersion only": {Version: 1},
		"Version is not below 2^53":     {Version: 1 << 53, IfVersion: true},
		"Token is not below 2^53":       {Token: 1 << 53},
	} {
		_, err := client.Write(ctx, "key", nil, options)
		if !errors.Is(err, lockc.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestAcquire_BadInput_IsInvalidAndSendsNothing(t *testing.T) {
	server := startServer(t)
	client, ctx := openAt(t, server.url, nil), context.Background()
	for name, bad := range map[string]struct {
		key     string
		options lockc.AcquireOptions
	}{
		"empty key":         {"", lockc.AcquireOptions{}},
		"long key":          {strings.Repeat("k", 4097), lockc.AcquireOptions{}},
		"reserved key":      {"lockc:key", lockc.AcquireOptions{}},
		"negative ttl":      {"key", lockc.AcquireOptions{TTL: -time.Second}},
		"ttl below floor":   {"key", lockc.AcquireOptions{TTL: 9 * time.Millisecond}},
		"tiny ttl":          {"key", lockc.AcquireOptions{TTL: time.Nanosecond}},
		"huge ttl":          {"key", lockc.AcquireOptions{TTL: math.MaxInt64}},
		"negative max hold": {"key", lockc.AcquireOptions{MaxHold: -time.Second}},
		"negative tries":    {"key", lockc.AcquireOptions{Spin: true, MaxTries: -1}},
		"renew and not":     {"key", lockc.AcquireOptions{Renew: true, NoRenew: true}},
	} {
		options := bad.options
		if _, err := client.TryAcquire(ctx, bad.key, &options); !errors.Is(err, lockc.ErrInvalid) {
			t.Errorf("TryAcquire, %s: %v", name, err)
		}
		if _, err := client.Acquire(ctx, bad.key, &options); !errors.Is(err, lockc.ErrInvalid) {
			t.Errorf("Acquire, %s: %v", name, err)
		}
	}
	if _, err := client.TryAcquire(ctx, "", nil); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty key isn't told: %v", err)
	}
	if stats := redis(t, server.url, "INFO", "commandstats"); strings.Contains(stats, "eval") {
		t.Errorf("commands were sent: %s", stats)
	}
}

func TestOptions_ReachTheServer(t *testing.T) {
	server := startServer(t)
	client := openAt(t, server.url, &lockc.Options{
		KeyPrefix: "lock/", ClientName: "tester", DefaultTTL: 7 * time.Second, FenceRetention: 500 * time.Second,
	})
	lock := acquire(t, client, "key", nil)
	defer lock.Release()
	if redis(t, server.url, "EXISTS", "lock/key") != "1" || lock.Key() != "key" {
		t.Errorf("the prefix isn't used, or shown in %q", lock.Key())
	}
	if left := lock.Remaining(); left > 7*time.Second || left < 5*time.Second {
		t.Errorf("remaining %s of 7 s", left)
	}
	ttl := redis(t, server.url, "TTL", "lockc:{lock/key}:fence:lock/key")
	if seconds, _ := strconv.Atoi(ttl); seconds < 499 || seconds > 625 { // the least, and a quarter more
		t.Errorf("the fence is kept for %s s", ttl)
	}
	if list := redis(t, server.url, "CLIENT", "LIST"); !strings.Contains(list, ":tester ") {
		t.Errorf("the client's name isn't shown: %s", list)
	}
}

func TestOptions_MaxWaiters_LimitsWaiting(t *testing.T) {
	holder, client, key := open(t, nil), open(t, &lockc.Options{MaxWaiters: 1}), keyOf(t)
	lock := acquire(t, holder, key, nil)
	ctx, cancel := context.WithCancel(context.Background())
	first := acquiring(ctx, client, key, nil)
	untilQueued(t, serverURL, key, 1)
	if err := outcome(t, acquiring(ctx, client, key, nil)).err; !errors.Is(err, lockc.ErrLimit) {
		t.Errorf("the second waiter: %v", err)
	}
	cancel()
	outcome(t, first)
	lock.Release()
}

func TestOptions_MaxTries_EndsSpinning(t *testing.T) {
	holder, client, key := open(t, nil), open(t, nil), keyOf(t)
	defer acquire(t, holder, key, nil).Release()
	options := &lockc.AcquireOptions{Spin: true, MaxTries: 3}
	if err := outcome(t, acquiring(context.Background(), client, key, options)).err; !errors.Is(err, lockc.ErrBusy) {
		t.Error(err)
	}
}
