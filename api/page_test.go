package api_test

import (
	"net/http"
	"strings"
	"testing"

	"ushuru/api"
)

func TestPagesAreServedOnlyWhenTheyAreOn(t *testing.T) {
	t.Parallel()
	for on, want := range map[bool]string{false: "404 application/json", true: "200 text/html; charset=utf-8"} {
		a := newApp(t, embedded(t), func(o *api.Options) { o.Page.Enabled = on })
		response, err := http.Get(a.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Status[:3] + " " + response.Header.Get("Content-Type"); got != want {
			t.Errorf("on=%t: %s, want %s", on, got, want)
		}
	}
}

// TestVisitorsReachNoEndpointOfKeys sends what a visitor could try: the pages must not
// open the API.
func TestVisitorsReachNoEndpointOfKeys(t *testing.T) {
	t.Parallel()
	a := newApp(t, embedded(t), func(o *api.Options) { o.Page.Enabled = true })
	for _, path := range []string{"/v1/vehicles", "/v1/batches", "/v1/jobs/1", "/e/../v1/batches", "/static/../../v1/batches"} {
		response, err := http.Get(a.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode < http.StatusBadRequest {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	response, err := http.Post(a.URL+"/go", "application/x-www-form-urlencoded", strings.NewReader("u=http://169.254.169.254/"))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("an address that is not public: %s", response.Status)
	}
}
