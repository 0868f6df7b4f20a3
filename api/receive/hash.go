package receive

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash identifies what a caller sent.
func Hash[T string | []byte](content T) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}
