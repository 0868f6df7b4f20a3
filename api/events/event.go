package events

import (
	"crypto/sha256"
	"encoding/hex"

	"ushuru/api/respond"
	"ushuru/pkg/plainjson"
)

// NewEvent returns the event with a body in a language. Its id is the hash of the
// fingerprint, so that every API process knows which event a caller has.
func NewEvent(lang string, body, fingerprint any, last bool) (Event, error) {
	data, err := plainjson.Encode(body)
	if err != nil {
		return Event{}, err
	}
	identity, err := plainjson.Encode(fingerprint)
	if err != nil {
		return Event{}, err
	}
	sum := sha256.Sum256(identity)
	ev := Event{id: hex.EncodeToString(sum[:8]), name: "progress", data: respond.InLanguage(data, lang), last: last}
	if last {
		ev.name = "end"
	}
	return ev, nil
}
