package web

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"ushuru/api/web/frame"
	"ushuru/pkg/vehicle"
)

// maxPictures is how many pictures a page shows of a car.
const maxPictures = 6

// pictures are those of the car, on its page. The visitor's browser loads them from the
// seller's site, when the visitor asks for them.
type pictures struct {
	Count int
	Shown []string // addresses
	Show  string   // query of the page that shows them
}

// picturesFor returns the pictures for a request of an answer's page.
func (p *Pages) picturesFor(r *http.Request, found *link, car vehicle.Car) pictures {
	var addresses []string
	for _, address := range car.Images {
		if p.canShow(address) && len(addresses) < maxPictures {
			addresses = append(addresses, address)
		}
	}
	if !arePicturesAsked(r) {
		return pictures{Count: len(addresses), Show: strings.TrimSuffix("?pictures=1&"+found.query, "&")}
	}
	return pictures{Count: len(addresses), Shown: addresses}
}

// arePicturesAsked reports whether the visitor has asked for the pictures on a page.
func arePicturesAsked(r *http.Request) bool { return r.URL.Query().Get("pictures") != "" }

// canShow reports whether the policy of a page that shows pictures allows an address.
func (p *Pages) canShow(address string) bool {
	at, err := url.Parse(address)
	return err == nil && at.Host != "" && (at.Scheme == "https" || at.Scheme == "http" && p.Simulated())
}

// isPicture reports whether a sheet may be a picture: it has a link, and is no PDF. A file
// that was sent is not kept, and has no link.
func isPicture(link string) bool {
	at, err := url.Parse(link)
	return err == nil && frame.Followable(link) != "" && !strings.EqualFold(path.Ext(at.Path), ".pdf")
}
