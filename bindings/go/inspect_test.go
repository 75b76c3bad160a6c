package lockc_test

import (
	"context"
	"testing"
	"time"

	"lockc"
)

func TestInspect_HeldKey_TellsHolderAndQueue(t *testing.T) {
	holder, waiter, key := open(t, &lockc.Options{ClientName: "holder"}), open(t, nil), keyOf(t)
	lock := acquire(t, holder, key, nil)
	ctx, cancel := context.WithCancel(context.Background())
	waiting := acquiring(ctx, waiter, key, nil)
	untilQueued(t, serverURL, key, 1)
	found := inspect(t, holder, key)
	if found.Key != key || found.State != "held" || found.Type != "string" ||
		found.Owner != redis(t, serverURL, "GET", key) || found.ClientName != "holder" ||
		found.PTTLMillis <= 0 || found.Token < lock.Token() {
		t.Errorf("%+v", found)
	}
	if len(found.Queue) != 1 || !found.Queue[0].Live || found.Queue[0].Owner == "" {
		t.Errorf("queue %+v", found.Queue)
	}
	cancel()
	outcome(t, waiting)
	lock.Release()
	if found := inspect(t, holder, key); found.State != "free" || found.Owner != "" || len(found.Queue) != 0 {
		t.Errorf("after Release %+v", found)
	}
}

func TestInspect_KeysOfOthers_AreNamed(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	for want, command := range map[string][]string{
		"foreign": {"SET", key, "another library's", "PX", "60000"},
		"zombie":  {"SET", key, "for ever"},
		"other":   {"LPUSH", key, "element"},
	} {
		redis(t, serverURL, command...)
		if found := inspect(t, client, key); found.State != want {
			t.Errorf("%s: %+v", want, found)
		}
		redis(t, serverURL, "DEL", key)
	}
}

func TestInspect_RecordThatExpires_IsNoHolder(t *testing.T) {
	client, key := open(t, nil), keyOf(t)
	if _, err := client.Write(context.Background(), key, []byte("value"), &lockc.WriteOptions{TTL: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if found := inspect(t, client, key); found.State != "record" || found.Type != "hash" || found.PTTLMillis <= 0 {
		t.Errorf("%+v", found)
	}
}

func inspect(t *testing.T, client *lockc.Client, key string) *lockc.Inspection {
	t.Helper()
	found, err := client.Inspect(key)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
