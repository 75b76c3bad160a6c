// rueidislock, for bench/run.py; with the one server that there is as its majority, and with
// NOLOOP as it advises for servers since 7.0.5. A module of its own: where it can't be had, the
// others still can.
package main

import (
	"context"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"lockc-bench/load"
)

func main() {
	l := load.Arguments()
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{l.Address}},
		KeyMajority:    1,
		KeyValidity:    l.TTL,
		NoLoopTracking: true,
	})
	load.Check(err)
	l.Run(func(ctx context.Context, key string) (func() error, error) {
		_, cancel, err := locker.WithContext(ctx, key)
		return func() error { cancel(); return nil }, err
	})
	locker.Close()
}
