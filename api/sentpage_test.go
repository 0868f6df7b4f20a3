package api_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"testing"

	"ushuru/api"
)

// visit sends a page as the extension does, and returns the address of the answer.
func (a *app) visit(t *testing.T, page string) string {
	t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for _, field := range [][2]string{{"u", site + "/sent"}, {"page", page}} {
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
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %s, want 303", response.Status)
	}
	return response.Header.Get("Location")
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
