package lockc

import (
	"encoding/json"

	"lockc/internal/raw"
)

// An Inspection is what the server knows of a key.
type Inspection struct {
	Key        string   `json:"key"`         // with the client's prefix
	State      string   `json:"state"`       // free, held, foreign, zombie (no expiry), record or other
	Type       string   `json:"type"`        // of the value at the key, none where it is free
	Owner      string   `json:"owner"`       // the value, where it is a text
	ClientName string   `json:"client_name"` // of the holder, while it is connected
	PTTLMillis int64    `json:"pttl_ms"`     // until the key expires; -1: never, -2: there is no key
	Token      uint64   `json:"token"`       // the last fencing token, 0 where none is kept
	Queue      []Waiter `json:"queue"`
}

// A Waiter is one place in the server's queue of a key.
type Waiter struct {
	Owner     string `json:"owner"`
	Position  int    `json:"position"`
	AgeMillis int64  `json:"age_ms"`
	Live      bool   `json:"live"` // it would be granted the lock; others are passed over
}

// Inspect asks the server what it knows of key. It takes at most about Options.ReplyTimeout.
func (c *Client) Inspect(key string) (*Inspection, error) {
	if err := c.enter(key); err != nil {
		return nil, err
	}
	defer c.leave()
	var answer raw.Answer
	text := raw.Inspect(c.client, key, &answer)
	if err := answered(&answer, key); err != nil {
		return nil, err
	}
	object := make([]byte, raw.TextSize(text))
	raw.TextTake(text, object)
	found := new(Inspection)
	if err := json.Unmarshal(object, found); err != nil {
		return nil, &Error{Status: ErrInternal, Key: key, Message: "unreadable answer", cause: err}
	}
	return found, nil
}
