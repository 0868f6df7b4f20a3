package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"ushuru/api/request"
	"ushuru/api/web/links"
)

// from sends a form, or reads an address, as a visitor of a network.
func from(h http.Handler, network, method, path, body string) *httptest.ResponseRecorder {
	ctx := request.With(context.Background(), &request.Request{Network: network})
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// kept returns how many keys Redis has, and the bytes of all links by their account.
func kept(t *testing.T, p *Pages) (keys, bytes int64) {
	t.Helper()
	keys, err := p.options.Redis.DBSize(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	bytes, err = p.options.Redis.Get(t.Context(), links.KeyAccount+":bytes").Int64()
	if err != nil {
		t.Fatal(err)
	}
	return keys, bytes
}

// What a visitor gives for a known car, a target or a price, stands in the address: nothing
// more is kept of it, however often.
func TestTermsAreNotKept(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, nil))
	ask(t, h, "u=https://cars.example/1")
	keys, bytes := kept(t, pages)
	addresses := map[string]bool{}
	for i := range 40 {
		for path, term := range map[string]string{
			"/bid": fmt.Sprintf("target=%d", 20_000_000+i), "/go": fmt.Sprintf("price=%d", 3000+i), "/go?cf": fmt.Sprintf("basis=cf&price=%d", 3000+i),
		} {
			w := from(h, "", http.MethodPost, path, "u=https://cars.example/1&"+term)
			if w.Code != http.StatusSeeOther {
				t.Fatalf("%s with %s: got %d, want 303\n%s", path, term, w.Code, w.Body)
			}
			addresses[w.Header().Get("Location")] = true
		}
	}
	if len(addresses) != 120 {
		t.Errorf("got %d addresses, want 120", len(addresses))
	}
	if k, b := kept(t, pages); k != keys || b != bytes {
		t.Errorf("after 120 requests on other terms: got %d keys and %d bytes, want %d and %d as before", k, b, keys, bytes)
	}
	for at := range addresses {
		if w := get(h, at, nil); w.Code != http.StatusOK {
			t.Fatalf("%s: got %d, want 200\n%s", at, w.Code, w.Body)
		}
		break
	}
}

// Only a form of these pages makes an address with terms: nobody can put a price of their own
// into that of somebody else.
func TestTermsOfAnAddressAreSigned(t *testing.T) {
	t.Parallel()
	_, h := served(t, answering(t, nil))
	plain := ask(t, h, "u=https://cars.example/1")
	other := ask(t, h, "u=https://cars.example/1&year=2001")
	bid := post(h, "/bid", "u=https://cars.example/1&target=30000000", http.Header{}).Header().Get("Location")
	priced := post(h, "/go", "u=https://cars.example/1&price=5000", http.Header{}).Header().Get("Location")
	_, signature, _ := strings.Cut(priced, "&sig=")
	signature = "sig=" + signature
	token := strings.TrimPrefix(plain, "/e/")
	for at, want := range map[string]int{
		plain: 200, bid: 200, priced: 200, priced + "&lang=sw": 200, priced + "&utm_source=x": 200,
		plain + "?price=5000": 404, plain + "?price=6000&" + signature: 404, plain + "?price=5000&basis=cf&" + signature: 404,
		other + "?price=5000&" + signature: 404, "/bid/" + token: 404, "/bid/" + token + "?price=5000&" + signature: 404,
		"/e" + strings.TrimPrefix(bid, "/bid"): 404, plain + "?sig=x": 200, plain + "?price=5000&sig=": 404,
		"/s/" + token: 404, "/c/" + token + "?target=30000000": 404,
	} {
		if got := get(h, at, nil).Code; got != want {
			t.Errorf("%s: got %d, want %d", at, got, want)
		}
	}
}

// A network that asks for more than there is room for pushes out its own oldest pages. Those of
// another visitor stay.
func TestANetworkPushesOutItsOwnPagesAlone(t *testing.T) {
	t.Parallel()
	pages, h := served(t, answering(t, nil))
	victim := from(h, "198.51.100.0", http.MethodPost, "/go", "u=https://cars.example/0").Header().Get("Location")
	_, one := kept(t, pages)
	pages.links.Room = links.Room{All: 1 << 30, OfNetwork: 5 * one}
	var mine []string
	for i := range 20 {
		body := url.Values{"u": {fmt.Sprintf("https://cars.example/%d", i)}, "year": {strconv.Itoa(2000 + i)}}.Encode()
		w := from(h, "192.0.2.0", http.MethodPost, "/go", body)
		mine = append(mine, w.Header().Get("Location"))
	}
	if _, bytes := kept(t, pages); bytes > 6*one {
		t.Errorf("got %d bytes, want at most those of six pages, %d", bytes, 6*one)
	}
	for at, want := range map[string]int{victim: 200, mine[19]: 200, mine[0]: 404} {
		if got := get(h, at, nil).Code; got != want {
			t.Errorf("%s: got %d, want %d", at, got, want)
		}
	}
	// Of what all have together, those lose who hold the most.
	pages.links.Room = links.Room{All: 4 * one, OfNetwork: 5 * one}
	last := from(h, "203.0.113.0", http.MethodPost, "/go", "u=https://cars.example/30").Header().Get("Location")
	for at, want := range map[string]int{victim: 200, last: 200, mine[15]: 404} {
		if got := get(h, at, nil).Code; got != want {
			t.Errorf("with little room for all, %s: got %d, want %d", at, got, want)
		}
	}
	if _, bytes := kept(t, pages); bytes > 4*one {
		t.Errorf("got %d bytes of all, want at most %d", bytes, 4*one)
	}
}

// TestOnlyTheMatchedEntryIsSaidToBeMatched: an entry that the visitor has chosen since is his own.
func TestOnlyTheMatchedEntryIsSaidToBeMatched(t *testing.T) {
	t.Parallel()
	for chosen, want := range map[string]string{"AXIO - NKE165": "AXIO - NKE165", "FIELDER - NKE165": "", "": ""} {
		form := url.Values{"make": {"TOYOTA"}, "modelBody": {chosen}, fieldMatched: {"AXIO - NKE165"}}
		if got := linkOf(pathQuote, form).Fields.Get(fieldMatched); got != want {
			t.Errorf("with the entry %q chosen, %q is said to be matched, want %q", chosen, got, want)
		}
	}
}
