package lockc_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

func TestSignals_HandlersUntouchedAndProfilingHarmless(t *testing.T) {
	before := signalHandling(t)
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Fatal(err)
	}
	holder, client, key := open(t, nil), open(t, nil), keyOf(t)
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		lock := acquire(t, holder, key, nil)
		ctx, cancel := context.WithCancel(context.Background())
		waiting := acquiring(ctx, client, key, nil)
		untilQueued(t, serverURL, key, 1)
		cancel()
		expectEnd(t, outcome(t, waiting).err, ctx)
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
	pprof.StopCPUProfile()
	if after := signalHandling(t); after != before {
		t.Errorf("signals are handled so: %s, and before so: %s", after, before)
	}
}

// signalHandling tells which signals this process catches and ignores.
func signalHandling(t *testing.T) string {
	t.Helper()
	return statusLines(t, "/proc/self/status", "SigCgt", "SigIgn")
}

func TestSignals_NativeThreads_TakeNone(t *testing.T) {
	acquire(t, open(t, nil), keyOf(t), nil)
	names, err := filepath.Glob("/proc/self/task/*/comm")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range names {
		name, err := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(name)) != "lockc" {
			continue // ended meanwhile, or Go's own
		}
		found++
		blocked := statusLines(t, filepath.Join(filepath.Dir(file), "status"), "SigBlk")
		// All 64 but SIGKILL and SIGSTOP, and the two that the C library keeps for itself.
		if want := fmt.Sprintf("SigBlk:\t%016x", ^uint64(1<<8|1<<18|3<<31)); blocked != want {
			t.Errorf("%s, want %s", blocked, want)
		}
	}
	if found == 0 {
		t.Error("no thread is called lockc")
	}
}

// statusLines picks lines of a process's or a thread's status.
func statusLines(t *testing.T, file string, names ...string) string {
	t.Helper()
	status, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^(`+strings.Join(names, "|")+`):.*$`).FindAllString(string(status), -1)
	return strings.Join(lines, " ")
}
