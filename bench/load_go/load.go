// Package load is the shape that the Go load programs share: arguments, workers, records, and the
// talk with the driver. The same as load.h, whose records it writes.
package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	processStride = 100000
	grace         = 10 * time.Second // who waits when the time is over still gets its turn
)

// Acquire waits for the lock of key and returns what releases it.
type Acquire func(ctx context.Context, key string) (release func() error, err error)

// Load is what the driver asked for.
type Load struct {
	Address string
	Threads int64
	TTL     time.Duration

	oneKey      bool
	process     int64
	pairs       int64
	seconds     float64
	hold, think time.Duration
	log         string
	deadline    int64
}

// record is one acquisition; its times are CLOCK_MONOTONIC nanoseconds.
type record struct{ Worker, Asked, Granted, Releasing, Released int64 }

// Check ends the program with a complaint if there is an error.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Arguments reads the name=value arguments of the program.
func Arguments() *Load {
	seconds, err := strconv.ParseFloat(text("seconds", "10"), 64)
	Check(err)
	return &Load{
		Address: text("address", ""),
		Threads: number("threads", 1),
		TTL:     time.Duration(number("ttl_ms", 30000)) * time.Millisecond,
		oneKey:  text("keys", "own") == "one",
		process: number("process", 0),
		pairs:   number("pairs", 1000),
		seconds: seconds,
		hold:    time.Duration(number("hold_us", 0)) * time.Microsecond,
		think:   time.Duration(number("think_us", 0)) * time.Microsecond,
		log:     text("log", os.DevNull),
	}
}

// Run plays the load with one goroutine for each worker.
func (l *Load) Run(acquire Acquire) {
	l.warmUp(acquire)
	records := make([][]record, l.Threads)
	l.begin()
	ends := time.Duration(l.seconds*float64(time.Second)) + grace
	ctx, cancel := context.WithTimeout(context.Background(), ends)
	defer cancel()
	var workers sync.WaitGroup
	for i := range records {
		workers.Add(1)
		go func(i int) {
			defer workers.Done()
			records[i] = l.work(ctx, acquire, int64(i))
		}(i)
	}
	workers.Wait()
	l.end(records)
}

func (l *Load) warmUp(acquire Acquire) {
	release, err := acquire(context.Background(), fmt.Sprintf("bench:warm-up:%d", l.process))
	Check(err)
	Check(release())
}

func (l *Load) begin() {
	fmt.Println("ready")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	Check(err)
	begin, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	Check(err)
	time.Sleep(time.Duration(begin - now()))
	l.deadline = now() + int64(l.seconds*1e9)
}

func (l *Load) work(ctx context.Context, acquire Acquire, index int64) []record {
	key := l.key(index)
	var records []record
	for n := int64(0); n < l.pairs; n++ {
		r := record{Worker: l.process*processStride + index, Asked: now()}
		if r.Asked >= l.deadline {
			break
		}
		release, err := acquire(ctx, key)
		Check(err)
		r.Granted = now()
		if l.hold > 0 {
			time.Sleep(l.hold)
		}
		r.Releasing = now()
		Check(release())
		r.Released = now()
		records = append(records, r)
		if l.think > 0 {
			time.Sleep(l.think)
		}
	}
	return records
}

func (l *Load) key(index int64) string {
	if l.oneKey {
		return "bench:one"
	}
	return fmt.Sprintf("bench:%d:%d", l.process, index)
}

func (l *Load) end(records [][]record) {
	var out bytes.Buffer
	for _, r := range records {
		Check(binary.Write(&out, binary.LittleEndian, r))
	}
	Check(os.WriteFile(l.log, out.Bytes(), 0o600))
	fmt.Println("done")
	_, err := io.Copy(io.Discard, os.Stdin)
	Check(err)
}

func now() int64 {
	const monotonic = 1
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func text(name, otherwise string) string {
	for _, word := range os.Args[1:] {
		if strings.HasPrefix(word, name+"=") {
			return word[len(name)+1:]
		}
	}
	return otherwise
}

func number(name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(text(name, strconv.FormatInt(otherwise, 10)), 10, 64)
	Check(err)
	return n
}
