// Package pace limits and shares what is scarce: calls a second (Rates), the places of
// workers and of one process (Turns, Places), bytes that are kept (Bytes), calls to
// a side that is not available (Breaker), and calls that are repeated (Retry). Long work of
// one key never takes all of a place or a rate.
//
// The rule of places is that of the dynamic threshold of switches with shared memory
// (Choudhury and Hahne, 1998): a key may take a place while it has fewer than twice
// as many as are free, and the last free place only when it has none. A key that is
// alone gets two thirds, two keys get two fifths each, and some places are always
// free for one that comes now, whatever key holds the others and however long.
package pace

import (
	"cmp"
	"context"
	"strings"
)

// Anonymous owns the work of visitors without a key. Those of one network take turns as a
// key does, and get less.
const Anonymous = "anonymous"

// Caller returns who takes turns for the work of an owner: a key for itself, and visitors
// by their network.
func Caller(owner, network string) string {
	if owner == Anonymous && network != "" {
		return Anonymous + "@" + network
	}
	return owner
}

// PartOf returns who takes turns within an owner; "" takes those of the owner.
func PartOf(owner, part string) string {
	if part == "" {
		return owner
	}
	return owner + "#" + part
}

// IsAnonymous reports whether a caller is a visitor without a key.
func IsAnonymous(caller string) bool {
	owner, _, _ := strings.Cut(caller, "@")
	return owner == Anonymous
}

// Operator owns the work of the operator who has logged in with the password, and not
// with an API key. It has what one key gets.
const Operator = "operator"

// Weights say how many times as many places as are free an owner may have.
const (
	weightKey       = 2.0
	weightAnonymous = 0.5
)

// weightOf returns the weight of an owner.
func weightOf(owner string) float64 {
	if IsAnonymous(owner) {
		return weightAnonymous
	}
	return weightKey
}

// admits reports whether an owner who has some places may take one more while free
// ones are left.
func admits(owner string, has, free int) bool {
	if has > 0 && free < 2 {
		return false
	}
	return float64(has) < weightOf(owner)*float64(free)
}

// Share returns what one owner may use of a rate: two thirds, visitors one third. What is
// left is for the others.
func Share(owner string, rate float64) float64 {
	if IsAnonymous(owner) {
		return rate / 3
	}
	return rate * 2 / 3
}

// Limits are the limits of one API key. In a key's record 0 stands for the server's
// limit; there 0 is no limit.
type Limits struct {
	PerMinute  int `json:"perMinute,omitempty"`  // requests that start work
	Jobs       int `json:"jobs,omitempty"`       // running jobs, without those of batches
	BatchItems int `json:"batchItems,omitempty"` // listings in running batches
	// Bytes bounds what is kept for the key, in bytes (Bytes.Take).
	Bytes int64 `json:"bytes,omitempty"`
	// AITokens are those of the AI a day.
	AITokens int64 `json:"aiTokens,omitempty"`
}

// Or returns l with every limit that is 0 taken from defaults.
func (l Limits) Or(defaults Limits) Limits {
	return Limits{
		PerMinute:  cmp.Or(l.PerMinute, defaults.PerMinute),
		Jobs:       cmp.Or(l.Jobs, defaults.Jobs),
		BatchItems: cmp.Or(l.BatchItems, defaults.BatchItems),
		Bytes:      cmp.Or(l.Bytes, defaults.Bytes),
		AITokens:   cmp.Or(l.AITokens, defaults.AITokens),
	}
}

type ownerKey struct{}

// WithOwner returns a context whose work belongs to a Caller. Limits that
// are shared between owners read it.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// Owner returns the Caller to whom the work of a context belongs; "" when it is not known.
func Owner(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}
