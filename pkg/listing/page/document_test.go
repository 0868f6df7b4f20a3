package page

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/dom"
)

func TestALinkResolvesAsTheStandardLibraryResolvesIt(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"https://user@cars.example.com/stock/1?a=b#c", "https://cars.example.com", "", "mailto:a@example.com"} {
		base, err := url.Parse(from)
		if err != nil {
			t.Fatal(err)
		}
		doc := &Document{URL: base, Base: base}
		for _, link := range []string{
			"/", "/a/b", "/a/b/", "/make=1/sortkey=n/", "/A_b-c.html", " /a ", "//other.example.com/a", "/a//b", "/./a", "/a/../b", "/a/.b",
			"/a%20b", "/a b", "/a?q=1", "/a#f", "/a:b", "/é", "/a;b", "a/b", "?q=1", "#f", "",
		} {
			want, err := base.Parse(strings.TrimSpace(link))
			if err != nil {
				want = &url.URL{}
			}
			if got := doc.Resolve(link); got.String() != want.String() || !reflect.DeepEqual(got, want) {
				t.Errorf("%q from %q: got %#v, want %#v", link, from, got, want)
			}
		}
	}
}

func TestAnAmountIsAMarkWithADigitBesideIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"US$ 4,350": true, "$5": true, "¥ 980000": true, "jpy 1": true, "1 USD": true, "98万円": true, "98 円": true, "KES 1": true,
		"ASK": true, "price: ask!": true, "SOLD": true, "sold out": true,
		"": false, "$": false, "$ x": false, "5 $": false, "5 KES": false, "円5": false, "万円": false, "5万 円": false,
		"task": false, "asked": false, "sold_2": false, "unsold": false, "used 2012": false,
	} {
		if got := hasAmount(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// The cars of a list without links are named in the order of the page, whatever their boxes look like.
func TestCardsAreInTheOrderOfThePage(t *testing.T) {
	var list strings.Builder
	for i, class := range []string{"a", "b", "c", "d"} {
		for range 3 {
			fmt.Fprintf(&list, `<div class="%s"><img src="/%d.jpg"><p>Toyota Vitz</p><p>USD %d,000</p></div>`, class, i, i+1)
		}
	}
	body := []byte("<html><body><div>" + list.String() + "</div></body></html>")
	for range 20 {
		doc, err := Parse(nil, &fetch.Page{Body: body})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, card := range doc.Cards {
			got.WriteString(dom.Attr(card, "class"))
		}
		if got.String() != "aaabbbcccddd" {
			t.Fatalf("the cards are %q", got.String())
		}
	}
}
