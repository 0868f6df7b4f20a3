package web

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"ushuru/pkg/vehicle"
)

// TestPicturesComeFromTheSellersSite looks at the page of an answer before and after the
// visitor asks for the pictures: only then the policy allows other sites.
func TestPicturesComeFromTheSellersSite(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, func(e *vehicle.Estimate) {
		e.Car.Images = []string{"javascript:alert(1)", "data:image/png;base64,AAAA", "http://cars.example/plain.jpg", "/no-host.jpg"}
		for n := range 9 {
			e.Car.Images = append(e.Car.Images, fmt.Sprintf(`https://cars.example/%d"><script>.jpg`, n))
		}
	}))
	at := ask(t, h, "u=https://cars.example/1")
	policy := func(w *httptest.ResponseRecorder) string { return w.Header().Get("Content-Security-Policy") }
	for lang, said := range map[string]string{"en": "come from the seller’s site", "sw": "zinatoka kwenye tovuti ya muuzaji"} {
		before := get(h, at+"?lang="+lang, nil)
		if body := before.Body.String(); strings.Contains(body, "<img") || !strings.Contains(body, said) || !strings.Contains(body, "?pictures=1") {
			t.Errorf("before, in %s: got\n%s\nwant no picture, and a button that says %q", lang, body, said)
		}
		if !strings.Contains(policy(before), "img-src 'self';") {
			t.Errorf("before, in %s: got policy %s, want pictures of this server alone", lang, policy(before))
		}
	}
	after := get(h, at+"?pictures=1", nil)
	if !strings.Contains(policy(after), "img-src 'self' https: data:;") || !strings.Contains(policy(after), "script-src 'self';") {
		t.Errorf("after: got policy %s, want that pictures of other sites are allowed and nothing else of theirs", policy(after))
	}
	body := after.Body.String()
	if got := strings.Count(body, `<img src="https://cars.example/`); got != maxPictures || strings.Count(body, "<img") != got {
		t.Errorf("after: got %d pictures, want %d\n%s", got, maxPictures, body)
	}
	if got := strings.Count(body, `referrerpolicy="no-referrer" loading="lazy"`); got != maxPictures || strings.Contains(body, "<script>.jpg") {
		t.Errorf("after: got %d pictures that are loaded late and without a referrer, want %d\n%s", got, maxPictures, body)
	}
}
