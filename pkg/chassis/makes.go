package chassis

import (
	_ "embed"
	"strings"
	"unicode"

	"ushuru/pkg/datatable"
)

//go:embed makes.csv
var makeTable string

var authorityMakes = loadMakes(makeTable)

func loadMakes(table string) map[string]string {
	names := map[string]string{}
	for _, row := range datatable.Lines(table, 2) {
		names[NameKey(row[0])] = row[1]
	}
	return names
}

// AuthorityMake returns the authority's spelling of a make that a listing
// names (Mercedes-Benz → MERCEDES). Other names come back in capitals; whether
// the authority lists them is for its catalogue to say. Makes are never
// matched by likeness.
func AuthorityMake(name string) string {
	if authority, ok := authorityMakes[NameKey(name)]; ok {
		return authority
	}
	return Normalise(name)
}

// MakeOfKey returns the authority's spelling of a make that it spells unlike the market, by
// the NameKey of its name.
func MakeOfKey(key string) (authority string, ok bool) {
	authority, ok = authorityMakes[key]
	return authority, ok
}

// NameKey folds a make's or model's name for comparison: capitals, and only
// letters and digits of any script, so that X-TRAIL, X TRAIL and XTRAIL are
// one name, as are LAND CRUISER and LANDCRUISER.
func NameKey(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, Normalise(name))
}
