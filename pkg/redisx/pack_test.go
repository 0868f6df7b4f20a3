package redisx_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"ushuru/pkg/redisx"
)

func TestWhatIsPackedComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		back, err := redisx.Unpack(redisx.Pack(data))
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%q came back as %q, %v", data, back, err)
		}
	})
}

func TestAnEstimateTakesAFractionOfItsSize(t *testing.T) {
	t.Parallel()
	estimate, err := os.ReadFile("../../api/testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	if err := json.Compact(&sent, estimate); err != nil {
		t.Fatal(err)
	}
	if packed := len(redisx.Pack(sent.Bytes())); packed > sent.Len()/2 {
		t.Errorf("%d of %d bytes", packed, sent.Len())
	}
}

// TestWhatAnEarlierProgramPackedComesBack: an upgrade loses nothing that is stored.
func TestWhatAnEarlierProgramPackedComesBack(t *testing.T) {
	t.Parallel()
	for _, id := range []uint32{2, 3} {
		dictionary, err := os.ReadFile(fmt.Sprintf("results-%d.json", id))
		if err != nil {
			t.Fatal(err)
		}
		earlier, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(id, dictionary))
		if err != nil {
			t.Fatal(err)
		}
		data := dictionary[1000:9000] // only the dictionary makes it small
		packed := earlier.EncodeAll(data, nil)
		if back, err := redisx.Unpack(packed); err != nil || !bytes.Equal(back, data) || len(packed) > len(data)/10 {
			t.Errorf("%d: got %d of %d bytes from %d packed ones, %v", id, len(back), len(data), len(packed), err)
		}
	}
}

// TestADictionaryNeverChanges: what a program has packed with a dictionary can be unpacked only with
// the same bytes under the same number. A new dictionary gets a file and a number of its own. Unless the
// program before unpacks it already, the changelog says that a rollback loses what was packed with it.
func TestADictionaryNeverChanges(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{ // by the numbers 2, 3 and 4
		"results-2.json": "c7d740ef763a0f63c66e5b478ab946dba8b23208002a775d69dfd1ba2f6b86c4",
		"results-3.json": "a790d25a290706ac1f87cbb8cf62724d0e4f93b5fbb639be3efc5ba5b8c48fc3",
		"results.json":   "64dc42e2a69c6185ea2f33c60342b7a0cc5dd1fa1309ff21717df33e89a0ed26",
	} {
		dictionary, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(dictionary)); got != want {
			t.Errorf("%s: got %s, want %s: keep it, and add the new one under another number", file, got, want)
		}
	}
	frame := redisx.Pack([]byte(strings.Repeat("x", 1000)))
	var header zstd.Header
	if err := header.Decode(frame); err != nil || header.DictionaryID != 4 {
		t.Errorf("got dictionary %d, %v, want that of results.json, 4", header.DictionaryID, err)
	}
}

func TestWhatIsNotPackedIsAnError(t *testing.T) {
	t.Parallel()
	good := redisx.Pack([]byte(strings.Repeat("x", 100)))
	for _, bad := range [][]byte{nil, []byte(`{"input":{}}`), good[:len(good)-1], append(bytes.Clone(good), 1)} {
		if data, err := redisx.Unpack(bad); err == nil && len(data) > 0 {
			t.Errorf("%q became %q", bad, data)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	estimate, err := os.ReadFile("../../api/testdata/estimate.json")
	if err != nil {
		b.Fatal(err)
	}
	packed := redisx.Pack(estimate)
	b.ReportMetric(float64(len(packed)), "packed-bytes")
	for b.Loop() {
		if _, err := redisx.Unpack(packed); err != nil {
			b.Fatal(err)
		}
	}
}
