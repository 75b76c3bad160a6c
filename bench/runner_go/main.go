// lockc from Go, one goroutine for each worker: the same work and the same records as runner_c.c
// (see load.h).
package main

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

	"lockc"
)

const processStride = 100000

// record is one acquisition; its times are CLOCK_MONOTONIC nanoseconds.
type record struct{ Worker, Asked, Granted, Releasing, Released int64 }

type load struct {
	address     string
	oneKey      bool
	process     int64
	threads     int64
	pairs       int64
	seconds     float64
	hold, think time.Duration
	log         string
	deadline    int64
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
	check(err)
	return n
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func arguments() *load {
	seconds, err := strconv.ParseFloat(text("seconds", "10"), 64)
	check(err)
	return &load{
		address: text("address", ""),
		oneKey:  text("keys", "own") == "one",
		process: number("process", 0),
		threads: number("threads", 1),
		pairs:   number("pairs", 1000),
		seconds: seconds,
		hold:    time.Duration(number("hold_us", 0)) * time.Microsecond,
		think:   time.Duration(number("think_us", 0)) * time.Microsecond,
		log:     text("log", os.DevNull),
	}
}

func (l *load) key(index int64) string {
	if l.oneKey {
		return "bench:one"
	}
	return fmt.Sprintf("bench:%d:%d", l.process, index)
}

func (l *load) begin() {
	fmt.Println("ready")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	begin, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	check(err)
	time.Sleep(time.Duration(begin - now()))
	l.deadline = now() + int64(l.seconds*1e9)
}

func (l *load) end(records [][]record) {
	var out bytes.Buffer
	for _, r := range records {
		check(binary.Write(&out, binary.LittleEndian, r))
	}
	check(os.WriteFile(l.log, out.Bytes(), 0o600))
	fmt.Println("done")
	_, err := io.Copy(io.Discard, os.Stdin)
	check(err)
}

func (l *load) work(ctx context.Context, client *lockc.Client, index int64) []record {
	key := l.key(index)
	var records []record
	for n := int64(0); n < l.pairs; n++ {
		r := record{Worker: l.process*processStride + index, Asked: now()}
		if r.Asked >= l.deadline {
			break
		}
		lock, err := client.Acquire(ctx, key, nil)
		check(err)
		r.Granted = now()
		if l.hold > 0 {
			time.Sleep(l.hold)
		}
		r.Releasing = now()
		check(lock.Release())
		r.Released = now()
		records = append(records, r)
		if l.think > 0 {
			time.Sleep(l.think)
		}
	}
	return records
}

func main() {
	l := arguments()
	// A busy machine makes a run slow, not wrong.
	client, err := lockc.Open("redis://"+l.address, &lockc.Options{ReplyTimeout: 10 * time.Second})
	check(err)
	warmUp, err := client.Acquire(context.Background(), "bench:warm-up", nil)
	check(err)
	check(warmUp.Release())

	records := make([][]record, l.threads)
	l.begin()
	// Who waits when the time is over still gets its turn.
	ends := time.Duration(l.seconds*float64(time.Second)) + 10*time.Second
	ctx, cancel := context.WithTimeout(context.Background(), ends)
	defer cancel()
	var workers sync.WaitGroup
	for i := range records {
		workers.Add(1)
		go func(i int) {
			defer workers.Done()
			records[i] = l.work(ctx, client, int64(i))
		}(i)
	}
	workers.Wait()
	l.end(records)
	check(client.Close())
}
