// Package jsonobject reads the fields of one that a struct does not have.
package jsonobject

import "encoding/json"

// IsAbsent reports whether an optional field is omitted or null.
func IsAbsent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
