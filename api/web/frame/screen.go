package frame

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

//go:embed templates
var layoutFiles embed.FS

// Screen is what a template shows.
type Screen struct {
	Name  string // of the template
	Part  string // of it that is sent without what is around it; "" for a whole page
	Index bool   // search engines may list it
	Body  any

	// Preview is what a messenger shows of a link to the page; nil for none.
	Preview *Preview
	// Again is after how many seconds a browser without JavaScript loads the page again;
	// 0 for never.
	Again int
	// SellersPictures says that the page shows pictures that the browser loads from the
	// seller's site.
	SellersPictures bool

	// Set by render.
	Lang, Other, Switch string
	Posted              url.Values // what the page answers, to be sent again in the other language
	Simulated           bool
	Returned            bool // the visitor was here before
}

// Preview is what a messenger shows of a link.
type Preview struct{ Title, Description, URL string }

// screens are the templates by language and name.
type screens map[string]map[string]*template.Template

// Languages of the pages. The first is the default.
var Languages = []string{message.English, message.Swahili}

// The layout of all pages, and the file of a folder of templates that has parts of several.
const (
	layoutFile = "layout.html"
	partsFile  = "parts.html"
)

// Add reads the templates of a folder, each of which is a screen that Render knows by its
// name. What the file parts.html defines is known to all of them. Each language has its own
// templates, because their functions say its texts.
func (f *Frame) Add(files fs.FS, folder string) error {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return fmt.Errorf("frame: templates: %w", err)
	}
	for _, lang := range Languages {
		for _, entry := range entries {
			if entry.Name() == partsFile {
				continue
			}
			own, err := template.New(layoutFile).Funcs(functions(lang, f.assets)).ParseFS(layoutFiles, "templates/"+layoutFile)
			if _, has := fs.Stat(files, path.Join(folder, partsFile)); err == nil && has == nil {
				own, err = own.ParseFS(files, path.Join(folder, partsFile))
			}
			if err == nil {
				own, err = own.ParseFS(files, path.Join(folder, entry.Name()))
			}
			name := strings.TrimSuffix(entry.Name(), ".html")
			if err != nil {
				return fmt.Errorf("frame: template %s: %w", name, err)
			}
			if _, known := f.screens[lang][name]; known {
				return fmt.Errorf("frame: two templates %s", name)
			}
			f.screens[lang][name] = own
		}
	}
	return nil
}

// functions are what templates can call.
func functions(lang string, a *Files) template.FuncMap {
	return template.FuncMap{
		"asset":  a.Address,
		"say":    func(key string, values ...any) (string, error) { return Say(lang, key, values...) },
		"in":     func(text interface{ In(lang string) string }) string { return text.In(lang) },
		"differ": func(a, b money.Amount) bool { return !a.Decimal().Equal(b.Decimal()) },
		// whole shillings, with commas for thousands
		"grouped": func(amount money.Amount) string { return money.Grouped(amount.Decimal().StringFixed(0)) },
		"quoted":  quoted,
		"number":  func(index int) int { return index + 1 },
		"dollars": InDollars,
		"when":    func(at time.Time) string { return at.In(localtime.Zone).Format("2006-01-02 15:04") },
		"whole":   Whole,
		"word":    func(value string) string { return message.Word(ourWord(value)).In(lang) },
		"begin":   Begin,
		"name":    NameOf,
		"facts":   func(car vehicle.Car) string { return factsOf(car, lang) },
		"without": Without,
		"tzs":     func(amount any) (string, error) { return Say(lang, "amount.tzs", "amount", amount) },
		"usd":     func(amount any) (string, error) { return Say(lang, "amount.usd", "amount", amount) },
	}
}

// ourWord returns the word of the table for a fuel of the authority.
func ourWord(value string) string {
	switch value {
	case "PETROL & ELECTRIC":
		return "petrol_hybrid"
	case "DIESEL & ELECTRIC":
		return "diesel_hybrid"
	}
	return value
}

// Begin returns a text as it begins a sentence.
func Begin(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || !unicode.IsLetter(first) {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// Say returns a text of the pages in a language. The values follow as names and values.
func Say(lang, key string, values ...any) (string, error) {
	if len(values)%2 != 0 {
		return "", errors.New("frame: a value without a name")
	}
	named := message.Values{}
	for pair := range slices.Chunk(values, 2) {
		named[fmt.Sprint(pair[0])] = fmt.Sprint(pair[len(pair)-1])
	}
	names, known := message.ValueNames("page/" + key)
	if !known {
		return "", fmt.Errorf("frame: no text %q", key)
	}
	for _, name := range names {
		if _, given := named[name]; !given {
			return "", fmt.Errorf("frame: the text %q lacks %q", key, name)
		}
	}
	return message.Say("page/"+key, named).In(lang), nil
}

// TextOf returns what a notice says, for a template.
func TextOf(n message.Notice) message.Text {
	if n.Text != nil {
		return *n.Text
	}
	return message.Text{EN: n.Message, SW: n.Message}
}

// Followable returns a URL that a browser may follow: http or https.
func Followable(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return raw
}

// NameOf returns make, model and year of a car.
func NameOf(car vehicle.Car) string {
	name := strings.TrimSpace(car.Make + " " + car.Model)
	if car.Year > 0 {
		name += " " + strconv.Itoa(car.Year)
	}
	return strings.TrimSpace(name)
}

// factsOf returns what else is known of a car on one line.
func factsOf(car vehicle.Car, lang string) string {
	facts := []string{car.Version, car.ModelCode}
	if car.EngineCC > 0 {
		facts = append(facts, strconv.Itoa(car.EngineCC)+" cc")
	}
	if car.Fuel != "" {
		facts = append(facts, message.Word(car.Fuel).In(lang))
	}
	if car.MileageKM != nil {
		facts = append(facts, "km "+money.Grouped(strconv.Itoa(*car.MileageKM)))
	}
	return strings.Join(slices.DeleteFunc(facts, func(fact string) bool { return fact == "" }), " · ")
}

// FieldsOf returns what is known of a car as the fields of a form.
func FieldsOf(car vehicle.Car) url.Values {
	fields := url.Values{"make": {car.Make}, "fuel": {car.Fuel}}
	for name, value := range map[string]int{"year": car.Year, "cc": car.EngineCC} {
		if value > 0 {
			fields.Set(name, strconv.Itoa(value))
		}
	}
	switch {
	case car.CFPriceUSD != nil:
		fields["price"], fields["basis"] = []string{car.CFPriceUSD.String()}, []string{"cf"}
	case car.FOBPriceUSD != nil:
		fields["price"], fields["basis"] = []string{car.FOBPriceUSD.String()}, []string{"fob"}
	}
	return fields
}

// Whole returns a whole number with commas for thousands.
func Whole(n int64) string { return money.Grouped(strconv.FormatInt(n, 10)) }

// InDollars returns a price in whole dollars: it is not rounded, because it is a limit.
func InDollars(price int64) string { return "USD " + Whole(price) }

// quote is a piece of a text in one language.
type quote struct {
	Text     string
	Japanese bool
}

// quoted returns the pieces of a text, in which Japanese stands between 「 and 」, or alone.
func quoted(text string) (pieces []quote) {
	for text != "" {
		from := strings.IndexFunc(text, isJapanese)
		if from < 0 {
			return append(pieces, quote{text, false})
		}
		if from > 0 {
			pieces = append(pieces, quote{text[:from], false})
		}
		text = text[from:]
		length := len(text)
		if at := strings.IndexFunc(text, isLatin); at > 0 {
			length = at
		}
		piece := strings.TrimRightFunc(text[:length], unicode.IsSpace)
		pieces, text = append(pieces, quote{piece, true}), text[len(piece):]
	}
	return pieces
}

// isLatin reports whether a letter ends a piece of Japanese. Spaces and digits stand within.
func isLatin(r rune) bool { return r < 0x2000 && !unicode.IsSpace(r) && !unicode.IsDigit(r) }

func isJapanese(r rune) bool {
	return r == '「' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
