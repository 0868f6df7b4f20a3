package visitor

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"math/bits"
	"time"

	"ushuru/api/web/frame"
)

// NewPuzzle returns a puzzle that can be solved from now on.
func NewPuzzle(secret []byte) string {
	return sign(secret, purposePuzzle, rand.Text(), time.Now().Add(puzzleTTL))
}

// SolvedPuzzle returns which puzzle of ours is solved; false when none is.
func SolvedPuzzle(secret []byte, value, solution string) (id string, solved bool) {
	id, until, ok := verify(secret, purposePuzzle, value)
	if !ok || time.Now().After(until) || len(solution) > maxPuzzle {
		return "", false
	}
	sum := sha256.Sum256([]byte(value + solution))
	return id, bits.LeadingZeros16(uint16(sum[0])<<8|uint16(sum[1])) >= puzzleBits
}

// Solves reports whether a puzzle of ours is solved for the first time.
func (v *Visitors) Solves(parent context.Context, secret []byte, value, solution string) (bool, error) {
	id, solved := SolvedPuzzle(secret, value, solution)
	if !solved {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(parent, frame.RedisTimeout)
	defer cancel()
	first, err := v.redis.SetNX(ctx, "page:solved:"+id, 1, puzzleTTL).Result()
	if err != nil {
		return false, frame.ErrRedis(err)
	}
	return first, nil
}
