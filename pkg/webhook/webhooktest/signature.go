package webhooktest

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/webhook"
)

// ErrSignature means that a delivery was not signed with the secret, or longer than
// tolerance ago.
var ErrSignature = errors.New("webhooktest: invalid signature")

// tolerance is how far the time of a delivery may be from the receiver's clock.
const tolerance = 5 * time.Minute

// CheckSignature verifies a delivery as a receiver must. It returns nil or ErrSignature.
func CheckSignature(secret, id, timestamp, signatures string, body []byte, now time.Time) error {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(sent, 0)).Abs() > tolerance {
		return ErrSignature
	}
	want, err := webhook.Sign([]string{secret}, id, time.Unix(sent, 0), body)
	if err != nil || !slices.Contains(strings.Fields(signatures), want) {
		return ErrSignature
	}
	return nil
}
