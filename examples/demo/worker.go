// The demo's worker in Go: takes the lock and increments the unprotected counter, again and again.
//
//	worker NAME KEY FOLDER
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"lockc"
)

// now answers the nanoseconds of CLOCK_MONOTONIC, the same for all processes: package time keeps
// its own to itself.
func now() int64 {
	const clockMonotonic = 1
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

// work lasts long enough for others to come between the reading and the writing, were there no lock.
func work() {
	if rand.Intn(20) == 0 {
		time.Sleep(30 * time.Millisecond)
		return
	}
	time.Sleep(time.Duration(rand.Intn(2000)) * time.Microsecond)
}

func increment(name string) (int, error) {
	text, err := os.ReadFile("counter")
	if err != nil {
		return 0, err
	}
	value, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, err
	}
	value++
	work()
	own := "counter." + name
	if err := os.WriteFile(own, []byte(strconv.Itoa(value)+"\n"), 0o644); err != nil {
		return 0, err
	}
	return value, os.Rename(own, "counter")
}

func criticalSection(name string, log *os.File, token uint64, asked int64) error {
	entered := now()
	fmt.Fprintf(log, "enter %s go %d %d %d\n", name, token, entered-asked, entered)
	value, err := increment(name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(log, "leave %s go %d %d %d\n", name, token, value, now())
	return err
}

func run(name, key, folder string) error {
	if err := os.Chdir(folder); err != nil {
		return err
	}
	log, err := os.OpenFile("log", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	client, err := lockc.Open("", nil)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options := &lockc.AcquireOptions{TTL: time.Second, Renew: true}
	for {
		asked := now()
		err := client.Do(ctx, key, options, func(_ context.Context, lock *lockc.Lock) error {
			return criticalSection(name, log, lock.Token(), asked)
		})
		if errors.Is(err, lockc.ErrCancelled) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func main() {
	if len(os.Args) != 4 {
		os.Exit(64)
	}
	rand.Seed(int64(os.Getpid()))
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
