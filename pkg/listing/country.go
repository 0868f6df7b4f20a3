package listing

import (
	_ "embed"
	"regexp"
	"strings"

	"ushuru/pkg/datatable"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/listing/page"
	"ushuru/pkg/listing/sites"
)

// placeTable has a place of a seller on each line: country, dollar and words.
//
//go:embed places.csv
var placeTable string

// place is a country with its top-level domain, its own dollar and the names by which
// locations on listing pages mean it.
type place struct {
	country, domain, currency string
	words                     *claim.Phrases
}

var places = func() (list []place) {
	for _, row := range datatable.Lines(placeTable, 4) {
		words := claim.NewPhrases(`(?:^|\P{L})(?:` + row[3] + `)(?:$|\P{L})`)
		list = append(list, place{country: row[0], domain: row[1], currency: row[2], words: words})
	}
	return list
}()

const (
	japan    = "JAPAN"
	tanzania = "TANZANIA"
)

// placeIn returns the place that a location names, nil for none that is known.
func placeIn(location string) *place {
	for i, p := range places {
		if p.words.In(location) {
			return &places[i]
		}
	}
	return nil
}

// locations returns what the page's own labels say of where its car is.
func locations(doc *page.Document) (all []string) {
	for _, p := range doc.Pairs {
		if p.Field == claim.FieldLocation && !doc.IsForeign(p.Node) {
			all = append(all, p.Value)
		}
	}
	return all
}

// countryOf returns the country that a location names, also by its code after a comma
// (ISO 3166), "" when it names none that is known.
func countryOf(location string) string {
	if named := placeIn(location); named != nil {
		return named.country
	}
	switch code := strings.ToLower(strings.TrimSpace(location[strings.LastIndexByte(location, ',')+1:])); {
	case len(code) != 2:
		return ""
	case code == "jp":
		return japan
	case code == "gb":
		return countryOf("UK")
	default:
		home := domainOf("." + code)
		if home == nil {
			home = domainOf(".co." + code)
		}
		if home == nil {
			return ""
		}
		return home.country
	}
}

// domainOf returns the country of a host's domain, nil for .com and the like.
func domainOf(host string) *place {
	for i, p := range places {
		if p.domain != "" && strings.HasSuffix(host, p.domain) {
			return &places[i]
		}
	}
	return nil
}

// usDollars are the ways in which pages name US dollars.
var usDollars = []string{"US$", "US $", "USD", "U.S. dollar", "US dollar"}

// statedDollars matches the beginning of a sentence that says which dollars the prices
// are in, up to their name.
var statedDollars = regexp.MustCompile(`(?i)\b(?:prices?|amounts?)\b[^<>.]{0,40}\bin\s+(?:the\s+)?$`)

//go:embed dollars.csv
var dollarTable string

// dollarNames are the names of dollars in sentences, with their currencies.
var dollarNames = datatable.Rows(dollarTable)

// maxStated bounds the text before the name of a currency that is examined, in bytes.
const maxStated = 80

// statedDollar returns the dollar in which a page says that its prices are.
func statedDollar(text string) string {
	for _, dollar := range dollarNames {
		rest := text
		for {
			before, after, found := strings.Cut(rest, dollar[0])
			if !found {
				break
			}
			if statedDollars.MatchString(before[max(0, len(before)-maxStated):]) {
				return dollar[1]
			}
			rest = after
		}
	}
	return ""
}

// countsMiles reports the page of a seller in a country where a bare mileage is in miles.
func countsMiles(doc *page.Document) bool {
	if sites.NameOf(doc.URL.Hostname()) != "" {
		return false
	}
	country := ""
	if home := domainOf(doc.URL.Hostname()); home != nil {
		country = home.country
	}
	for _, location := range locations(doc) {
		if country == "" {
			country = countryOf(location)
		}
	}
	return country == "UNITED KINGDOM" || country == "UNITED STATES"
}

// localDollar returns the dollar of the place where the page says that its car is.
func localDollar(doc *page.Document) string {
	for _, location := range locations(doc) {
		if named := placeIn(location); named != nil {
			return named.currency
		}
	}
	return ""
}

// dollarOf returns the currency that a dollar sign alone means on a page, "" when that
// is not known: US dollars on the site of a known exporter; else by the place of the car,
// the site's country or a sentence; else US dollars when the page names them anywhere.
func dollarOf(doc *page.Document) string {
	if isExporter(doc) {
		return "USD"
	}
	if own := localDollar(doc); own != "" {
		return own
	}
	if home := domainOf(doc.URL.Hostname()); home != nil && home.currency != "" {
		return home.currency
	}
	if stated := statedDollar(doc.Words()); stated != "" {
		return stated
	}
	for _, mark := range usDollars {
		if strings.Contains(doc.Words(), mark) {
			return "USD"
		}
	}
	return ""
}

// isExporter reports a page of a known exporter.
func isExporter(doc *page.Document) bool {
	return sites.Of(doc).Name != "" || sites.NameOf(doc.URL.Hostname()) != ""
}

// setCountry records where the car is. A price on the domestic market of another
// country than Japan is not FOB, and the costs of shipping from Japan do not apply.
func (l *Listing) setCountry(doc *page.Document) {
	car := &l.Car
	home := domainOf(doc.URL.Hostname())
	exporter := isExporter(doc)
	car.LocatedIn = countryOf(car.Location)
	if car.LocatedIn == "" && home != nil && !exporter {
		car.LocatedIn = home.country
	}
	if car.LocatedIn == "" && !exporter {
		l.rejectRetail(doc)
	}
	if car.LocatedIn == "" || car.LocatedIn == japan {
		return
	}
	named := values{"country": car.LocatedIn}
	if car.LocatedIn == tanzania {
		l.warn("in_tanzania", named)
	} else {
		l.warn("outside_japan", named)
	}
	if car.FOBPriceUSD == nil || !isRetail(car.LocatedIn, home != nil && !exporter && home.country == car.LocatedIn, doc) {
		return
	}
	price := car.FOBPriceUSD.String()
	car.FOBPriceUSD = nil
	l.warn("retail_price", values{"price": price, "country": car.LocatedIn})
}

// rejectRetail does not take a price that has the words of a domestic market and none of
// exporters beside it.
func (l *Listing) rejectRetail(doc *page.Document) {
	price := l.Car.FOBPriceUSD
	if price != nil && phrases[retailPhrase].InLong(doc.Words()) && !phrases[exportPhrase].InLong(doc.Words()) {
		l.warn("retail_price.market", values{"price": price.String()})
		l.Car.FOBPriceUSD = nil
	}
}

// isRetail reports a price in US dollars that a seller asks of the customers of its own
// market: on a site of the seller's country, in the seller's own money, or with what only
// such a price comes with, such as the tax on sales. What exporters write speaks against it.
func isRetail(country string, isDomestic bool, doc *page.Document) bool {
	if phrases[exportPhrase].InLong(doc.Words()) {
		return false
	}
	for _, p := range places {
		if p.country == country && p.currency == "USD" {
			return true
		}
	}
	return isDomestic || phrases[retailPhrase].InLong(doc.Words())
}
