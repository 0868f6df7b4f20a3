package frame

import (
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
)

func TestAssetsAreSmallAndKeptForever(t *testing.T) {
	t.Parallel()
	a, err := readAssets()
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]int{"icon.svg": 512, "icon192.png": 1 << 10} {
		if got := a.Size(name); got == 0 || got > most {
			t.Errorf("%s has %d bytes compressed, want at most %d", name, got, most)
		}
	}
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int{}
	for _, entry := range entries {
		sums[path.Ext(entry.Name())] += a.Size(entry.Name())
	}
	for kind, most := range map[string]int{".css": 4 << 10, ".js": 4 << 10} {
		if sums[kind] == 0 || sums[kind] > most {
			t.Errorf("all files %s have %d bytes compressed, want at most %d", kind, sums[kind], most)
		}
	}
	address, err := a.Address("page.css")
	if err != nil {
		t.Fatal(err)
	}
	get := func(at string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, http.NoBody))
		return w
	}
	w := get(address)
	if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%d, %v", w.Code, w.Header())
	}
	if w := get("/static/page.css"); w.Code != http.StatusNotFound {
		t.Errorf("a name without its hash: %d", w.Code)
	}
}
