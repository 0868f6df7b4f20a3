package batch

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

const (
	// siteBytes are the bytes that say of which site a row is, of those with most rows.
	siteBytes = "!#$%&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	noSite    = ' ' // of a described car, a duplicate, a rejected row or one of another site
)

// sitesOf returns the hosts of the listings of rows, and for each row the byte of its own.
func sitesOf(rows []Row, states string) (hosts []string, ofRows string) {
	byRow, counts := make([]string, len(rows)), map[string]int{}
	for i := range rows {
		if listing, err := url.Parse(rows[i].URL); err == nil && states[i] == codeOf(Waiting) && listing.Host != "" {
			byRow[i] = listing.Host
			counts[listing.Host]++
		}
	}
	for host := range counts {
		hosts = append(hosts, host)
	}
	slices.SortFunc(hosts, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	hosts = hosts[:min(len(hosts), len(siteBytes))]
	marks := make([]byte, len(rows))
	for i, host := range byRow {
		marks[i] = noSite
		if at := slices.Index(hosts, host); at >= 0 && host != "" {
			marks[i] = siteBytes[at]
		}
	}
	return hosts, string(marks)
}

// openAt counts the rows that wait or run, by the hosts of their listings.
func (m meta) openAt(states string) map[string]int {
	open := map[string]int{}
	for i := range min(len(states), len(m.SiteOfRow)) {
		state := stateOf(states[i])
		at := strings.IndexByte(siteBytes, m.SiteOfRow[i])
		if at >= 0 && at < len(m.Sites) && (state == Waiting || state == Running) {
			open[m.Sites[at]]++
		}
	}
	return open
}
