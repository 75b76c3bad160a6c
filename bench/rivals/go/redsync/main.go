// redsync over go-redis, for bench/run.py.
package main

import (
	"context"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"lockc-bench/load"
)

func main() {
	l := load.Arguments()
	client := redis.NewClient(&redis.Options{Addr: l.Address})
	locks := redsync.New(goredis.NewPool(client))
	l.Run(func(ctx context.Context, key string) (func() error, error) {
		mutex := locks.NewMutex(key, redsync.WithExpiry(l.TTL))
		// It gives up after 32 tries, which is no reason to.
		for err := mutex.LockContext(ctx); err != nil; err = mutex.LockContext(ctx) {
			if ctx.Err() != nil {
				return nil, err
			}
		}
		return func() error { _, err := mutex.UnlockContext(ctx); return err }, nil
	})
	load.Check(client.Close())
}
