package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strconv"
	"testing"

	"ushuru/api"
)

// visit sends a page as the extension of a new visitor does, who solves the puzzle first.
// It returns the address of the answer.
func (a *app) visit(t *testing.T, page string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(puzzle, solution string) (*http.Response, string) {
		var form bytes.Buffer
		writer := multipart.NewWriter(&form)
		for _, field := range [][2]string{{"u", site + "/sent"}, {"puzzle", puzzle}, {"solution", solution}, {"page", page}} {
			if err := writer.WriteField(field[0], field[1]); err != nil {
				t.Fatal(err)
			}
		}
		_ = writer.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+"/go", &form)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {writer.FormDataContentType()}, "Accept": {"application/json"}}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		var body struct {
			Puzzle string `json:"puzzle"`
		}
		_ = json.NewDecoder(response.Body).Decode(&body) // a redirection has none
		return response, body.Puzzle
	}
	refused, puzzle := send("", "") //nolint:bodyclose // send closes it
	if refused.StatusCode != http.StatusTooManyRequests || puzzle == "" {
		t.Fatalf("without a cookie: %s", refused.Status)
	}
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(puzzle + strconv.Itoa(n)))
		if sum[0] == 0 && sum[1] == 0 {
			answered, _ := send(puzzle, strconv.Itoa(n)) //nolint:bodyclose // send closes it
			if answered.StatusCode != http.StatusSeeOther {
				t.Fatalf("solved: %s", answered.Status)
			}
			return answered.Header.Get("Location")
		}
	}
}

// Two visitors who send the same page share neither its job nor its result: what one
// sends never reaches another through a cache.
func TestEqualPagesOfTwoVisitorsAreTwoJobs(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Page.Enabled = true })
	const page = "<!DOCTYPE html><title>A car</title>"
	if first, second := a.visit(t, page), a.visit(t, page); first == second {
		t.Errorf("both have the address %s", first)
	}
	uploads, err := a.conn.Client().Keys(t.Context(), "upload:*").Result()
	if err != nil || len(uploads) != 2 {
		t.Errorf("%d uploads, %v", len(uploads), err)
	}
}
