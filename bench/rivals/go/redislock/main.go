// redislock over go-redis, for bench/run.py. Without a strategy it doesn't wait at all; the one of
// its documentation is taken.
package main

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"lockc-bench/load"
)

func main() {
	l := load.Arguments()
	client := redis.NewClient(&redis.Options{Addr: l.Address})
	locks := redislock.New(client)
	l.Run(func(ctx context.Context, key string) (func() error, error) {
		lock, err := locks.Obtain(ctx, key, l.TTL, &redislock.Options{
			RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond),
		})
		if err != nil {
			return nil, err
		}
		return func() error { return lock.Release(ctx) }, nil
	})
	load.Check(client.Close())
}
