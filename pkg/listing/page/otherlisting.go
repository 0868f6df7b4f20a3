package page

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ushuru/pkg/listing/dom"
)

// ownURL returns the page's own URL: the one that was read, or the canonical one when
// that has no path.
func (d *Document) ownURL() *url.URL {
	if strings.Trim(d.URL.Path, "/") == "" {
		return d.Resolve(d.Canonical)
	}
	return d.URL
}

// notPages are the endings of files that are no pages.
var notPages = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".pdf", ".css", ".js", ".ico", ".mp4"}

// isOtherListing reports a link to the page of another car: on the same site, with
// ids in the same places of the path or parameters as the page's own URL.
func isOtherListing(link, own *url.URL) bool {
	isPage := link.Scheme == "" || link.Scheme == "http" || link.Scheme == "https"
	if !isPage || !sameHost(link, own) || slices.Contains(notPages, strings.ToLower(path.Ext(link.Path))) {
		return false
	}
	to, from := strings.Trim(link.Path, "/"), strings.Trim(own.Path, "/")
	switch {
	case to == "":
		return false
	case from == "":
		return hasLongID(link)
	case to == from:
		return differentID(link.Query(), own.Query())
	}
	return hasID(to) && sameShape(to, from)
}

// IsOtherListing reports a link to the page of another car of the same site.
func (d *Document) IsOtherListing(link string) bool { return d.isOtherListing(d.Resolve(link)) }

func (d *Document) isOtherListing(link *url.URL) bool {
	own := d.ownURL()
	return strings.Trim(own.Path, "/") != "" && isOtherListing(link, own)
}

// LinkedListing returns the absolute URL of a link that may lead to the page of another car of
// the same site, "" for any other link.
func (d *Document) LinkedListing(link string) string {
	if to := d.Resolve(link); link != "" && (d.mayBeListing(to) || d.isOtherListing(to)) {
		return absolute(to)
	}
	return ""
}

// mayBeListing reports a link of the same site that has an id, as the pages of single cars
// have: from a list it need not look like a link to another list.
func (d *Document) mayBeListing(to *url.URL) bool {
	return hasLongID(to) && to.Path != d.URL.Path && sameHost(to, d.URL) &&
		!slices.Contains(notPages, strings.ToLower(path.Ext(to.Path)))
}

// IsNumbered reports a page whose own URL has an id, as the pages of single cars have.
func (d *Document) IsNumbered() bool {
	return hasLongID(d.URL)
}

// sameHost reports URLs of one host; a URL without a host is on any.
func sameHost(a, b *url.URL) bool {
	one, two := strings.TrimPrefix(a.Host, "www."), strings.TrimPrefix(b.Host, "www.")
	return one == "" || two == "" || strings.EqualFold(one, two)
}

// differentID reports that two queries have different ids under the same name.
func differentID(a, b url.Values) bool {
	for name, values := range a {
		if other, ok := b[name]; ok && hasID(values[0]) && other[0] != values[0] {
			return true
		}
	}
	return false
}

// sameShape reports paths of equally many segments, with ids in the same ones.
func sameShape(a, b string) bool {
	for {
		one, restA, moreA := strings.Cut(a, "/")
		two, restB, moreB := strings.Cut(b, "/")
		if hasID(one) != hasID(two) || moreA != moreB {
			return false
		}
		if !moreA {
			return true
		}
		a, b = restA, restB
	}
}

// hasID reports a text with two digits that follow each other.
func hasID(s string) bool { return hasDigits(s, 2) }

// hasLongID reports a path or a query with the id of a car, where the page's own URL is not known.
func hasLongID(u *url.URL) bool { return hasDigits(u.Path, 4) || hasDigits(u.RawQuery, 4) }

// hasDigits reports a text with so many digits that follow each other.
func hasDigits(s string, least int) bool {
	run := 0
	for i := range len(s) {
		if run++; s[i]-'0' > 9 {
			run = 0
		} else if run == least {
			return true
		}
	}
	return false
}

// maxLinks bounds the links that are compared with the page's own URL.
const maxLinks = 3000

// markCards marks the boxes around links to other listings.
func (d *Document) markCards(headed map[*html.Node]bool, count map[*html.Node]int, total int) {
	own := d.ownURL()
	links, under := d.otherLinks(own)
	if len(links) == 0 || strings.Trim(own.Path, "/") == "" && under[Body(d)] != several {
		return // the only listing that a page without a URL links to may be itself
	}
	stop := func(n *html.Node) bool { return under[n] == several || headed[n] }
	for _, a := range links {
		d.budget.Spend(1)
		if d.IsForeign(a) {
			continue
		}
		if card := cardAround(a, stop, count, total); hasCarWords(card) {
			d.foreign[card] = true
		}
	}
}

// several stands for the listing to which an element links, where these are several.
const several = "several"

// otherLinks returns the links to other listings than the page's own, and the listing to which
// each element around them links.
func (d *Document) otherLinks(own *url.URL) (links []*html.Node, under map[*html.Node]string) {
	under = map[*html.Node]string{}
	last, target := "", "" // the link before as it is written, and the other listing, "" for anything else
	for _, a := range d.Tags[atom.A] {
		href := strings.TrimSpace(dom.Attr(a, "href"))
		if !hasID(href) || strings.HasPrefix(href, "#") || len(links) >= maxLinks {
			continue
		}
		if href != last { // a picture and a name often link to the same listing
			last, target = href, ""
			if link := d.Resolve(href); isOtherListing(link, own) {
				target = link.Path + "?" + link.RawQuery
			}
		}
		if target == "" {
			continue
		}
		links = append(links, a)
		for n := a; n != nil; n = n.Parent {
			d.budget.Spend(1)
			first := under[n]
			if first == target || first == several {
				break // and so do all elements around it
			}
			under[n] = target
			if first != "" {
				under[n] = several
			}
		}
	}
	return links, under
}

// cardAround returns the largest element around a link that is about the linked car
// only. An element with the majority of the other labels of the page is about the
// page's own car.
func cardAround(a *html.Node, stop func(*html.Node) bool, count map[*html.Node]int, total int) *html.Node {
	card := a
	for p := a.Parent; p != nil && p.Type == html.ElementNode; p = p.Parent {
		if p.DataAtom == atom.Body || p.DataAtom == atom.Html || p.DataAtom == atom.Main || stop(p) {
			break
		}
		if added := count[p] - count[card]; 2*added > total-count[card] {
			break
		}
		card = p
	}
	return card
}
