// lockc from Go: the same work and the same records as runner_c.c (see load.h).
package main

import (
	"context"
	"time"

	"lockc"
	"lockc-bench/load"
)

func main() {
	l := load.Arguments()
	// A busy machine makes a run slow, not wrong.
	client, err := lockc.Open("redis://"+l.Address, &lockc.Options{ReplyTimeout: 10 * time.Second})
	load.Check(err)
	l.Run(func(ctx context.Context, key string) (func() error, error) {
		lock, err := client.Acquire(ctx, key, nil)
		if err != nil {
			return nil, err
		}
		return lock.Release, nil
	})
	load.Check(client.Close())
}
