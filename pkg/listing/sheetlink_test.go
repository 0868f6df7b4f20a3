package listing

import (
	"strings"
	"testing"
)

func TestALinkThatNamesTheSheet(t *testing.T) {
	const page = `<html><body><h1>TOYOTA PASSO</h1><table><tr><th>Make</th><td>TOYOTA</td></tr><tr><th>Model</th><td>PASSO</td></tr>
<tr><th>Model Code</th><td>DBA-KGC30</td></tr><tr><th>Year</th><td>2013</td></tr></table>LINK</body></html>`
	for link, want := range map[string]string{
		`<a href="/s/1.jpg">Auction Sheet</a>`:                                                "https://cars.example.com/s/1.jpg",
		`<a href="/s/1.PDF?v=2"><b>View</b> auction sheet</a>`:                                "https://cars.example.com/s/1.PDF?v=2",
		`<a href="https://a.example.com/x.png">出品票</a>`:                                       "https://a.example.com/x.png",
		`<a href="/help/auction-sheet">Auction sheet</a>`:                                     "", // a page about sheets
		`<a href="/how.pdf">How to read an auction sheet</a>`:                                 "",
		`<a href="javascript:alert(1).jpg">Auction sheet</a>`:                                 "",
		`<a href="/s/1.jpg">Photograph</a>`:                                                   "",
		`<a href="/s/1.jpg">Auction sheet</a><a href="/s/2.jpg">Auction sheet</a>`:            "https://cars.example.com/s/1.jpg",
		`<div class="similar-cars"><a href="/other/9.jpg">Auction sheet</a></div>`:            "",
		`<a href="ftp://a.example.com/x.png">Condition report</a>`:                            "",
		`<a href="/s/1.jpg"> Inspection <i>sheet</i> </a><a href="/b.jpg">Auction report</a>`: "https://cars.example.com/s/1.jpg",
	} {
		read, err := Read(t.Context(), FromFile([]byte(strings.Replace(page, "LINK", link, 1)), "https://cars.example.com/passo/1"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if read.Car.ConditionReportURL != nil {
			got = *read.Car.ConditionReportURL
		}
		if got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}
