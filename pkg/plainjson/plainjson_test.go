package plainjson_test

import (
	"testing"

	"ushuru/pkg/plainjson"
)

func TestEncodeEscapesNoHTML(t *testing.T) {
	data, err := plainjson.Encode(map[string]string{"fuel": "PETROL & <ELECTRIC>"})
	if want := `{"fuel":"PETROL & <ELECTRIC>"}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
	if data, err := plainjson.Encode(func() {}); err == nil {
		t.Errorf("a function was encoded as %s", data)
	}
}
