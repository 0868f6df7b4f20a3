// Package plainjson encodes JSON that people can read too, and joins its objects: "C&F" stays "C&F",
// because the JSON of this program is never part of an HTML page.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
)

// Encode returns value as JSON without HTML escapes and without a final line
// break. It fails when encoding/json fails.
func Encode(value any) ([]byte, error) {
	var data bytes.Buffer
	if err := NewEncoder(&data).Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(data.Bytes(), []byte("\n")), nil
}

// NewEncoder returns an encoder of JSON without HTML escapes. As every
// json.Encoder, it ends each value with a line break.
func NewEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// Merge makes one JSON object of two that are not empty.
func Merge(a, b []byte) []byte {
	both := make([]byte, 0, len(a)+len(b))
	both = append(both, a[:len(a)-1]...)
	both = append(both, ',')
	return append(both, b[1:]...)
}
