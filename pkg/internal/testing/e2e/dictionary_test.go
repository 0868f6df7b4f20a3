package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ushuru/pkg/jobs"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/testenv"
	"ushuru/tasks"
)

// dictionary is the sample that results are packed with, from the folder of the tests.
var dictionary = filepath.Join("..", "..", "..", "redisx", "results.json")

// maxDictionary is what fits into the window of the packer, beside a result.
const maxDictionary = 120_000

// An estimate takes less than a sixth of its size: results have the shape of the dictionary. With
// -update the results in it are replaced by those of today. Then keep the old file under its number,
// and add this one to pkg/redisx/pack.go under another: TestADictionaryNeverChanges.
func TestTheDictionaryHasTheShapeOfResults(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	s := newStack(t, redistest.Embedded(t))
	s.work(tasks.Roles...)
	store := jobs.NewStore(s.conn.Client())
	result := func(path string, body any) []byte {
		t.Helper()
		got := s.do(http.MethodPost, path, body, "Prefer", "respond-async")
		id, _, _ := strings.Cut(strings.TrimPrefix(got.header.Get("Location"), "/v1/jobs/"), "?")
		if id == "" {
			t.Fatalf("%s: got %s, want a job", path, got.body)
		}
		job := s.job(id, func(job *jobs.Job) bool { return job.State.Ended() })
		record, err := store.Get(t.Context(), job.ID)
		must(t, err)
		if len(record.Result) == 0 {
			t.Fatalf("%s: got %s, want a result", path, got.body)
		}
		return record.Result
	}
	estimate := func(i int) []byte { return result("/v1/estimate", map[string]any{"url": s.car(i)}) }
	quote := func(year int, code string) []byte {
		return result("/v1/quote", map[string]any{
			"make": "TOYOTA", "model": "COROLLA FIELDER", "modelCode": code, "year": year, "engine_cc": 1496, "fuel": "HYBRID", "fobPriceUSD": 6150,
		})
	}
	if *update {
		compared := result("/v1/compare", map[string]any{"url1": s.car(4), "url2": s.car(2)})
		reports := bytes.Index(compared, []byte(`"condReport1"`))
		if reports < 0 {
			t.Fatalf("got %s, want the reports of both cars", compared)
		}
		writeDictionary(t, compared[reports:], quote(2016, "NKE165"), estimate(0))
		t.Log("the program must be compiled again to pack with it")
		return
	}
	for i := range 4 {
		for name, data := range map[string][]byte{"estimate " + strconv.Itoa(i): estimate(1 + i), "quote " + strconv.Itoa(i): quote(2014+i, "NKE165")} {
			packed := len(redisx.Pack(data))
			t.Logf("%s: %d of %d bytes", name, packed, len(data))
			if packed > len(data)/6 {
				t.Errorf("%s: got %d of %d bytes, want a sixth: the dictionary is not of today, write it with -update", name, packed, len(data))
			}
		}
	}
}

// writeDictionary replaces the results in the dictionary, which are its last objects; the most frequent kind
// comes last.
func writeDictionary(t *testing.T, comparison []byte, results ...[]byte) {
	t.Helper()
	old, err := os.ReadFile(dictionary)
	must(t, err)
	var parts [][]byte
	for rest := old; ; {
		decoder := json.NewDecoder(bytes.NewReader(rest))
		var part json.RawMessage
		err := decoder.Decode(&part)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if !bytes.Contains(part[:min(len(part), 1000)], []byte(`"condReport1"`)) && !bytes.Contains(part, []byte(`"driveAway"`)) {
			parts = append(parts, part)
		}
		rest = bytes.TrimLeft(rest[decoder.InputOffset():], ",\n")
	}
	parts = append(parts, append([]byte("{"), comparison...))
	data := bytes.Join(append(parts, results...), []byte(","))
	if len(data) > maxDictionary {
		t.Fatalf("%d bytes, of which %d fit", len(data), maxDictionary)
	}
	must(t, os.WriteFile(dictionary, data, 0o600))
}
