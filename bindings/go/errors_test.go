package lockc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lockc"
)

var statuses = map[string]lockc.Status{
	"BUSY": lockc.ErrBusy, "TIMEOUT": lockc.ErrTimeout, "CANCELLED": lockc.ErrCancelled,
	"NOT_HELD": lockc.ErrNotHeld, "LOST": lockc.ErrLost, "INVALID": lockc.ErrInvalid,
	"CLOSED": lockc.ErrClosed, "NOMEM": lockc.ErrNoMemory, "UNREACHABLE": lockc.ErrUnreachable,
	"UNCERTAIN": lockc.ErrUncertain, "SERVER": lockc.ErrServer, "DENIED": lockc.ErrDenied,
	"WRONG_TYPE": lockc.ErrWrongType, "SERVER_OOM": lockc.ErrServerOOM,
	"UNSUPPORTED": lockc.ErrUnsupported, "LIMIT": lockc.ErrLimit, "FORKED": lockc.ErrForked,
	"INTERNAL": lockc.ErrInternal, "READONLY": lockc.ErrReadOnly, "NOT_READY": lockc.ErrNotReady,
}

func TestError_MatchesItsStatusAlone(t *testing.T) {
	for name, status := range statuses {
		var err error = &lockc.Error{Status: status, Key: "key", Message: "message"}
		for otherName, other := range statuses {
			if errors.Is(err, other) != (name == otherName) {
				t.Errorf("%s matches %s: %t", name, otherName, errors.Is(err, other))
			}
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s matches the end of a context", name)
		}
		if strings.Contains(status.Error(), "unknown") {
			t.Errorf("%s has no text", name)
		}
	}
}

func TestError_TellsTheKeyAndTheMessage(t *testing.T) {
	for want, err := range map[string]error{
		`lockc: "a\nb": message`:           &lockc.Error{Status: lockc.ErrServer, Key: "a\nb", Message: "message"},
		`lockc: "p:a": message`:            &lockc.Error{Status: lockc.ErrServer, Key: "a", Message: `"p:a": message`},
		"lockc: message":                   &lockc.Error{Status: lockc.ErrServer, Message: "message"},
		"lockc: another owner has the key": lockc.ErrBusy,
		"lockc: unknown status 99":         lockc.Status(99),
	} {
		if err.Error() != want {
			t.Errorf("%q isn't %q", err.Error(), want)
		}
	}
}

func TestError_OfAnOperation_HasItsParts(t *testing.T) {
	holder, client, key := open(t, nil), open(t, nil), keyOf(t)
	defer acquire(t, holder, key, nil).Release()
	_, err := client.TryAcquire(context.Background(), key, nil)
	var detail *lockc.Error
	if !errors.As(err, &detail) || detail.Status != lockc.ErrBusy || detail.Key != key || detail.Message == "" {
		t.Errorf("%#v", err)
	}
}
