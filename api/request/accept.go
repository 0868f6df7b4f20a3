package request

import (
	"mime"
	"strconv"
	"strings"
)

// MediaType returns the offered media type that the Accept headers of a request want
// most (RFC 9110, section 12.5.1). Of those that are wanted equally it is the first, and
// the first of all when none is wanted.
func MediaType(accept []string, offered ...string) string {
	best, most := offered[0], 0.0
	ranges := parseAccept(accept)
	for _, mediaType := range offered {
		if q := quality(ranges, mediaType); q > most {
			best, most = mediaType, q
		}
	}
	return best
}

// mediaRange is one element of Accept.
type mediaRange struct {
	name string // type/subtype, type/* or */*
	q    float64
}

func parseAccept(accept []string) (ranges []mediaRange) {
	for element := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		q := 1.0
		if text, given := params["q"]; given {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		ranges = append(ranges, mediaRange{name, q})
	}
	return ranges
}

// quality returns how much a media type is wanted: the weight of the most specific range
// that it is in.
func quality(ranges []mediaRange, mediaType string) (q float64) {
	family, _, _ := strings.Cut(mediaType, "/")
	for _, name := range []string{mediaType, family + "/*", "*/*"} {
		found := false
		for _, r := range ranges {
			if r.name == name {
				q, found = max(q, r.q), true
			}
		}
		if found {
			return q
		}
	}
	return 0
}
