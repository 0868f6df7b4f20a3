package listing

import (
	_ "embed"

	"ushuru/pkg/listing/listingtest"
)

//go:embed testdata/truth.txt
var truthText string

// truth is what a person reads from the hand-written pages of testdata: fixture → field →
// value. Their structure is that of listing pages; their cars are made up.
var truth = listingtest.Truth(truthText)

// fixtures are those pages and where each would stand.
var fixtures = func() map[string]string {
	addresses := map[string]string{}
	for name, fields := range truth {
		addresses[name] = fields["url"]
	}
	return addresses
}()
