package service

import "testing"

// What comes on standard input is known by its beginning: there is no name of a file to tell.
func TestStandardInputIsKnownByWhatItHolds(t *testing.T) {
	t.Parallel()
	const asJSON, asLines, asCSV = "application/json", "application/x-ndjson", "text/csv"
	for data, want := range map[string]string{
		`{"items":[{"url":"https://x.example/1"}]}`:                            asJSON,
		"{\n\"urls\": [\"https://x.example/1\"],\n\"options\": {}\n}\n":        asJSON,
		"{\"url\":\"https://x.example/1\"}\n{\"url\":\"https://x.example/2\"}": asLines,
		`{"url":"https://x.example/1"}`:                                        asLines,
		"\"https://x.example/1\"\n\"https://x.example/2\"\n":                   asLines,
		"\"url\",\"reference\"\nhttps://x.example/1,A\n":                       asCSV,
		"url\nhttps://x.example/1\n":                                           asCSV,
		"":                                                                     asCSV,
	} {
		if got := typeOf("-", []byte(data)); got != want {
			t.Errorf("%q: got %s, want %s", data, got, want)
		}
	}
	if got := typeOf("list.tsv", []byte(`{"items":[]}`)); got != "text/tab-separated-values" {
		t.Errorf("a file that is named: got %s", got)
	}
}
