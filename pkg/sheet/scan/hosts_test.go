package scan

import (
	"testing"
)

func TestSheetsComeFromAuctionSitesOnly(t *testing.T) {
	t.Parallel()
	hosts, err := NewHosts("Sheets.Example.com", " other.example ")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ url, want, code string }{
		{url: "https://8.ajes.com/imgs/Abc123&h=50", want: "https://8.ajes.com/imgs/Abc123"},
		{url: "https://8.AJES.com./imgs/Abc123&w=320#x", want: "https://8.ajes.com/imgs/Abc123"},
		{
			url:  "https://i.aleado.ru/pic/?system=auto&date=2026-07-02&auct=81&bid=3006&number=0&h=480",
			want: "https://i.aleado.ru/pic/?system=auto&date=2026-07-02&auct=81&bid=3006&number=0",
		},
		{url: "https://i.aleado.ru/image/auto/a.jpg?w=72", want: "https://i.aleado.ru/image/auto/a.jpg"},
		{url: "http://stock.japan-partner.com/a.jpg?h=1", want: "http://stock.japan-partner.com/a.jpg?h=1"},
		{url: "https://cdn.sheets.example.com/1.pdf", want: "https://cdn.sheets.example.com/1.pdf"},
		{url: "https://other.example/1.pdf", want: "https://other.example/1.pdf"},
		{url: "https://example.com/sheet.jpg", code: HostUnsupported},
		{url: "https://notajes.com/imgs/1", code: HostUnsupported},
		{url: "https://ajes.com.example.com/imgs/1", code: HostUnsupported},
		{url: "https://example.com/?ajes.com", code: HostUnsupported},
		{url: "https://ajes.com@example.com/", code: "url_forbidden"},
		{url: "http://127.0.0.1/ajes.com", code: "url_forbidden"},
		{url: "ftp://ajes.com/1.jpg", code: "url_forbidden"},
		{url: "ajes.com/1.jpg", code: "url_invalid"},
	} {
		got, err := hosts.Canonical(test.url, false)
		if test.code != "" {
			wantRefused(t, err, test.code)
		} else if got != test.want || err != nil {
			t.Errorf("%s is %s, %v; want %s", test.url, got, err, test.want)
		}
	}
}

func TestLoopbackIsAHostForTestsOnly(t *testing.T) {
	t.Parallel()
	hosts, err := NewHosts()
	if err != nil {
		t.Fatal(err)
	}
	const local = "http://127.0.0.1:8090/sheets/1.jpg"
	if got, err := hosts.Canonical(local, true); got != local || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = hosts.Canonical("https://example.com/1.jpg", true)
	wantRefused(t, err, HostUnsupported)
}

func TestOnlyPublicNamesCanBeAdded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "localhost", "10.0.0.1", "a.example/path", "a.example:8080", "a.example?x", "user@a.example", "intranet"} {
		if _, err := NewHosts(name); err == nil {
			t.Errorf("%q was added", name)
		}
	}
}
