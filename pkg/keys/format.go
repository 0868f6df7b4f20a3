package keys

import (
	"crypto/rand"
	"hash/crc32"
	"strings"
)

const (
	prefix         = "ush_" // lets people and secret scanners recognize a key
	randomLength   = 32     // 190 bits
	checksumLength = 6      // 62^6 > 2^32
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// generate returns a new key: the prefix, random characters, their checksum.
func generate() string {
	secret := randomText(randomLength)
	return prefix + secret + checksum(secret)
}

// wellFormed reports whether a text has the format of a key. A mistyped or
// invented key fails here and costs no read.
func wellFormed(plain string) bool {
	rest, found := strings.CutPrefix(plain, prefix)
	if !found || len(rest) != randomLength+checksumLength {
		return false
	}
	secret, sum := rest[:randomLength], rest[randomLength:]
	return strings.Trim(secret, alphabet) == "" && sum == checksum(secret)
}

// checksum returns the CRC32 (IEEE) of the text as six base62 digits.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	digits := make([]byte, checksumLength)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits)
}

// randomText returns n random characters of the alphabet. Bytes above the last
// multiple of its length are discarded: they would favour its start.
func randomText(n int) string {
	const fair = 256 / len(alphabet) * len(alphabet)
	text := make([]byte, 0, n)
	for buffer := make([]byte, n); len(text) < n; {
		_, _ = rand.Read(buffer) // never returns an error
		for _, b := range buffer {
			if int(b) < fair && len(text) < n {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}
