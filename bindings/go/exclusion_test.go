package lockc_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lockc"
)

func TestExclusion_Goroutines_LoseNoUpdate(t *testing.T) {
	clients, key := []*lockc.Client{open(t, nil), open(t, nil)}, keyOf(t)
	const workers, rounds = 8, 25
	var counter, lastToken int64 // atomic only to be visible, and unprotected but by the lock
	var all sync.WaitGroup
	for i := 0; i < workers; i++ {
		client := clients[i%len(clients)]
		all.Add(1)
		go func() {
			defer all.Done()
			for round := 0; round < rounds; round++ {
				err := client.Do(context.Background(), key, nil, func(ctx context.Context, lock *lockc.Lock) error {
					seen := atomic.LoadInt64(&counter)
					if token := int64(lock.Token()); atomic.SwapInt64(&lastToken, token) >= token {
						t.Errorf("token %d isn't larger than the last", token)
					}
					atomic.StoreInt64(&counter, seen+1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	if counter != workers*rounds {
		t.Errorf("%d of %d updates are left", counter, workers*rounds)
	}
}

func TestExclusion_Processes_LoseNoUpdate(t *testing.T) {
	key := keyOf(t)
	const workers, rounds = 3, 50
	var processes []*exec.Cmd
	for i := 0; i < workers; i++ {
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), "LOCKC_URL="+serverURL, fmt.Sprintf("LOCKC_TEST_WORK=%d %s", rounds, key))
		process.Stderr = os.Stderr
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		processes = append(processes, process)
	}
	for _, process := range processes {
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
	}
	if count := redis(t, serverURL, "GET", key+":counter"); count != strconv.Itoa(workers*rounds) {
		t.Errorf("%s of %d updates are left", count, workers*rounds)
	}
	redis(t, serverURL, "DEL", key+":counter")
}

// runWorker is the other process of the test above: it counts in two commands what one could.
func runWorker(work string) int {
	rounds, key := 0, ""
	fmt.Sscanf(work, "%d %s", &rounds, &key)
	if err := countUp(rounds, key); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func countUp(rounds int, key string) error {
	client, err := lockc.Open("", nil)
	if err != nil {
		return err
	}
	defer client.Close()
	conn, err := dial(os.Getenv("LOCKC_URL"))
	if err != nil {
		return err
	}
	defer conn.Close()
	for i := 0; i < rounds; i++ {
		err := client.Do(context.Background(), key, nil, func(context.Context, *lockc.Lock) error {
			text, err := conn.call("GET", key+":counter")
			if err != nil {
				return err
			}
			count, _ := strconv.Atoi(text)
			_, err = conn.call("SET", key+":counter", strconv.Itoa(count+1), "EX", "600")
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// threads counts this process's threads.
func threads(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "Threads:") {
			count, _ := strconv.Atoi(strings.TrimSpace(line[len("Threads:"):]))
			return count
		}
	}
	t.Fatal("/proc/self/status has no line Threads")
	return 0
}

func TestWaiting_ThousandsOfGoroutinesOnOneKey_KeepNoThreads(t *testing.T) {
	holder, client, key := open(t, nil), open(t, nil), keyOf(t)
	lock := acquire(t, holder, key, nil)
	before := threads(t)
	const waiters = 7000 // the race detector takes 8,128 goroutines
	var started, all sync.WaitGroup
	for i := 0; i < waiters; i++ {
		started.Add(1)
		all.Add(1)
		go func() {
			defer all.Done()
			started.Done()
			lock, err := client.Acquire(context.Background(), key, nil)
			if err == nil {
				err = lock.Release()
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	started.Wait()
	untilQueued(t, serverURL, key, 1)
	if now := threads(t); now > before+50 {
		t.Errorf("%d threads while %d wait, %d before", now, waiters, before)
	}
	lock.Release()
	all.Wait()
	if now := threads(t); now > before+50 {
		t.Errorf("%d threads after %d waited, %d before", now, waiters, before)
	}
}

func TestRelease_ManyAtOnce_KeepsFewThreads(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	const locks = 500
	held := make([]*lockc.Lock, locks)
	var all sync.WaitGroup
	forAll := func(work func(i int)) {
		all.Add(locks)
		for i := range held {
			go func(i int) { defer all.Done(); work(i) }(i)
		}
		all.Wait()
	}
	before := threads(t)
	forAll(func(i int) {
		var err error
		if held[i], err = client.Acquire(context.Background(), key+strconv.Itoa(i), nil); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		return
	}
	forAll(func(i int) {
		if err := held[i].Release(); err != nil {
			t.Error(err)
		}
	})
	if now := threads(t); now > before+50 {
		t.Errorf("%d threads after %d at once, %d before", now, locks, before)
	}
}
