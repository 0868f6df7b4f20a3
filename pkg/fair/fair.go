// Package fair shares what is scarce between API keys: the places of workers, the
// places for forms, calls per second. Long work of one key never takes all of it.
//
// The rule is that of the dynamic threshold of switches with shared memory
// (Choudhury and Hahne, 1998): a key may take a place while it has fewer than twice
// as many as are free, and the last free place only when it has none. A key that is
// alone gets two thirds, two keys get two fifths each, and some places are always
// free for one that comes now, whatever key holds the others and however long.
package fair

import "context"

// Anonymous owns the work of visitors without a key. They share what one key gets,
// and less of it.
const Anonymous = "anonymous"

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
	if owner == Anonymous {
		return weightAnonymous
	}
	return weightKey
}

// Admits reports whether an owner who has some places may take one more while free
// ones are left.
func Admits(owner string, has, free int) bool {
	if has > 0 && free < 2 {
		return false
	}
	return float64(has) < weightOf(owner)*float64(free)
}

// A key may use two thirds of a rate. What is left is for the others.
const (
	shareParts = 3
	shareOfKey = 2
)

// Rate returns what one owner may use of a rate, at least 1, in Parts units of time:
// a rate of 5 in a second is 10 in three for a key.
func Rate(owner string, rate int) (share, units int) {
	share = shareOfKey * rate
	if owner == Anonymous {
		share = rate
	}
	return max(share, 1), shareParts
}

type ownerKey struct{}

// WithOwner says for whom the work of a context is: the id of an API key, or
// Anonymous. Limits that are shared between owners read it.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// Owner returns for whom the work of a context is; "" when it is not known.
func Owner(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}
