// Package jsonobject joins JSON objects, and reads the fields of one that a struct does not have.
package jsonobject

import "encoding/json"

// Merge makes one JSON object of two that are not empty.
func Merge(a, b []byte) []byte {
	both := make([]byte, 0, len(a)+len(b))
	both = append(both, a[:len(a)-1]...)
	both = append(both, ',')
	return append(both, b[1:]...)
}

// IsAbsent reports whether an optional field is omitted or null.
func IsAbsent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
