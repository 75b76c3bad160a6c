// Command example numbers its runs in a file that many processes write: each reads the last number,
// works, and appends the next one. Start it many times at once; no number comes twice.
//
//	go run . numbers.txt
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"lockc"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: example FILE")
	}
	client, err := lockc.Open("", nil) // LOCKC_URL, else redis://127.0.0.1:6379
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	file := os.Args[1]
	err = client.Do(ctx, "example:"+file, nil, func(ctx context.Context, lock *lockc.Lock) error {
		return appendNumber(ctx, file, lock.Token())
	})
	if err != nil {
		log.Print(err)
	}
}

// appendNumber stops without writing when ctx ends: then the lock is lost, or the minute is over.
func appendNumber(ctx context.Context, file string, token uint64) error {
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	number := strings.Count(string(text), "\n") + 1
	select {
	case <-time.After(10 * time.Millisecond): // the work
	case <-ctx.Done():
		return ctx.Err()
	}
	line := fmt.Sprintf("%d, written under token %d\n", number, token)
	return os.WriteFile(file, append(text, line...), 0o644)
}
