package listing

import (
	"ushuru/pkg/fetch"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/message"
)

// Codes of the errors of this package; they come as *fetch.Error.
const (
	Blocked     = "listing_blocked" // the site answered with a challenge; temporary for 429 and 503
	Gone        = "listing_gone"    // removed
	Sold        = "listing_sold"    // sold, and nothing left to estimate from
	NotAListing = "not_a_listing"   // a home page, a list, an empty shell

	PageUnreadable = page.PageUnreadable // costs too much to read; temporary when it took too long
)

func outcome(key string) error {
	return &fetch.Error{Notice: message.New(key, nil)}
}
