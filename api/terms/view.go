package terms

import (
	"net/url"
	"time"

	"ushuru/api/request"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// View is how a caller reads the result of a job: on which terms, in which language, and
// whether with the source of each value. Callers of one job share its work, and each has
// a view of its own in the query of the job's URL.
type View struct {
	Terms   vehicle.Terms
	Lang    string
	Explain bool
}

// Query returns the view as the query of a URL, "" for the usual one.
func (v View) Query() string {
	query := Query(v.Terms)
	if v.Explain {
		query.Set("explain", "true")
	}
	if v.Lang == message.Swahili {
		query.Set("lang", v.Lang)
	}
	return query.Encode()
}

// At returns the URL at which a path is read in this view.
func (v View) At(path string) string {
	if query := v.Query(); query != "" {
		return path + "?" + query
	}
	return path
}

// ParseView parses the query of a URL, but for its language. Ignored are the names in it
// that do not exist.
func ParseView(query url.Values, now time.Time) (v View, ignored []string, err error) {
	if v.Explain, err = request.Flag(query, "explain"); err != nil {
		return v, nil, err
	}
	v.Terms, ignored, err = ParseQuery(query, now)
	return v, ignored, err
}
