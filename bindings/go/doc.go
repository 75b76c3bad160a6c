// Package lockc takes distributed locks on a Redis or Valkey server.
//
//	client, err := lockc.Open("redis://localhost:6379", nil)
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//
//	lock, err := client.Acquire(ctx, "orders:42", nil) // waits until ctx ends
//	if err != nil {
//		return err
//	}
//	defer lock.Release() // works although ctx is done
//	return work(lock.Context(ctx), lock.Token())
//
// A lock is renewed in the background while it is held, unless its options name a TTL. If it is lost
// all the same, its Lost channel is closed and its Context cancelled. The token is a fencing number:
// larger for every later grant of the same key.
//
// All methods may be called from any goroutine. Waiting for a lock keeps no thread: one goroutine per
// client receives all answers.
package lockc
