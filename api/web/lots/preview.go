package lots

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/lot"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// understood is how the API understands a table.
type understood struct {
	Rows     int      `json:"rows"`
	Valid    int      `json:"valid"`
	Repeated int      `json:"repeated"`
	Rejected int      `json:"rejected"`
	Missing  []string `json:"missing"`
	// Questions are about the units of prices.
	Questions []lot.Question `json:"questions"`
	Table     struct {
		Sheet     string      `json:"sheet"`
		HeaderRow int         `json:"headerRow"`
		Columns   []lotColumn `json:"columns"`
		EmptyRows int         `json:"emptyRows"`
	} `json:"table"`
	First    []lotRow         `json:"first"`
	Invalid  []lotRow         `json:"problems"`
	Warnings []message.Notice `json:"warnings"`
}

// lotColumn is a column of a table, and the field that it is read as.
type lotColumn struct{ lot.Column }

// Meaning returns the key of the word for the field; "" for a field without one.
func (c lotColumn) Meaning() string {
	key := "lots.field_" + strings.ToLower(strings.ReplaceAll(c.Field, ".", "_"))
	if _, known := message.ValueNames("page/" + key); !known {
		return ""
	}
	return key
}

// readings are what a column can be read as: a field, or a field of prices with its unit.
var readings = func() (all []lotColumn) {
	for _, field := range []string{"fobPrice", "cfPrice", "startPrice", "hammerPrice"} {
		for _, unit := range []string{"USD", "JPY", "1000 JPY", "10000 JPY"} {
			all = append(all, lotColumn{lot.Column{Header: field + " (" + unit + ")", Field: field, Unit: unit}})
		}
	}
	for field := range strings.FieldsSeq("url make model modelCode chassis version year registration engine_cc fuel " +
		"bodyType modelBody m3 reference lot house score mileage_km currency unit") {
		all = append(all, lotColumn{lot.Column{Header: field, Field: field}})
	}
	return all
}()

// Readings returns what a column can be read as instead.
func (lotPreview) Readings() []lotColumn { return readings }

// lotRow is a row of a table as the API understands it.
type lotRow struct {
	Row       int                `json:"row"`
	Sheet     string             `json:"sheet"` // of several in a workbook
	Reference string             `json:"reference"`
	URL       string             `json:"url"`
	Car       vehicle.QuoteInput `json:"car"`
	Basis     string             `json:"priceBasis"` // of the price of the car: cf, fob, hammer or start
	Text      *message.Text      `json:"text"`
}

// Price returns the price of the row in dollars; "" without one.
func (l lotRow) Price() string {
	price := cmp.Or(l.Car.CFPriceUSD, l.Car.FOBPriceUSD)
	if price == nil {
		return ""
	}
	return frame.InDollars(price.Decimal().Round(0).IntPart())
}

// Name returns what names the row.
func (l lotRow) Name() string {
	car := l.Car
	name := strings.TrimSpace(strings.Join([]string{car.Make, car.Model, car.ModelBody, car.ModelCode}, " "))
	if name == "" {
		return l.URL
	}
	if car.Year > 0 {
		name = fmt.Sprintf("%s, %d", name, car.Year)
	}
	return name
}

// lotPreview is the page that shows how a table is understood.
type lotPreview struct {
	understood

	File    string
	Sum     string
	Options *lotOptions
}

// NeedsYen reports whether the rate of yen is asked for.
func (l lotPreview) NeedsYen() bool { return len(l.Missing) > 0 || l.Options.Value("yen") != "" }

// Bad returns the first rows that are rejected.
func (l lotPreview) Bad() []lotRow { return l.Invalid[:min(len(l.Invalid), shownProblem)] }

// lotOptions are what a caller says beside the table.
type lotOptions struct {
	Filled  url.Values   // yen for a dollar, the target, the rate, the day of landing, as entered
	Columns []string     // what columns mean, and answers to the questions about units
	Once    string       // names the start, so that it happens once
	Problem message.Text // of the last try
	Wrong   string       // the field that is to blame; "" for none
}

// Value returns what was entered in a field.
func (o *lotOptions) Value(name string) string { return strings.TrimSpace(o.Filled.Get(name)) }

// optionsOf returns the options among the fields of a form.
func optionsOf(form url.Values) lotOptions {
	o := lotOptions{Filled: form, Columns: slices.Clone(form["column"]), Once: form.Get("once")}
	for name, values := range form {
		if strings.HasPrefix(name, "unit") {
			o.Columns = append(o.Columns, values...)
		}
	}
	o.Columns = slices.DeleteFunc(o.Columns, func(column string) bool { return column == "" })
	return o
}

// query returns the options as parameters of the API; false with the name of the field that
// cannot be read.
func (o *lotOptions) query() (query url.Values, wrong string) {
	query = url.Values{}
	for _, sum := range []struct{ field, param, currency string }{
		{"target", "target", "TZS"}, {"rate", "rate", "TZS"}, {"yen", "jpyPerUSD", "JPY"},
	} {
		said := o.Value(sum.field)
		number, ok := frame.Sum(said, sum.currency)
		// 149.875 is no sum, whose thousands a point may separate.
		if yen, err := money.ParseDecimal(said); sum.field == "yen" && err == nil {
			number, ok = yen.String(), true
		}
		switch {
		case said == "":
		case !ok:
			return query, sum.param
		default:
			query.Set(sum.param, number)
		}
	}
	if landing := o.Value("landing"); landing != "" {
		query.Set("landing", landing)
	}
	answers := map[string]string{} // the last of a column
	for _, column := range o.Columns {
		name, _, _ := strings.Cut(column, "=")
		answers[name] = column
	}
	if len(answers) > 0 {
		query["column"] = slices.Sorted(maps.Values(answers))
	}
	if o.Value("skip") != "" {
		query.Set("onInvalid", "skip")
	}
	return query, ""
}

// tableType is the media type of every table: what it is, its bytes say.
var tableType = http.Header{"Content-Type": {"text/csv"}}

// preview responds with how a table is understood.
func (l *Lots) preview(w http.ResponseWriter, r *http.Request, s session, table lotTable, o lotOptions) error {
	query, wrong := o.query()
	if wrong != "" {
		o.blame(wrong)
	}
	if o.Wrong != "" {
		query.Del(o.Wrong)
	}
	query.Set("dryRun", "true")
	got, err := s.Do(r.Context(), http.MethodPost, "/v1/batches?"+query.Encode(), table.data, tableType)
	why, refused := errors.AsType[*problem.Problem](err)
	if refused && o.Wrong == "" && slices.Contains(fieldsOfLots, why.Param) {
		o.blame(why.Param)
		return l.preview(w, r, s, table, o)
	}
	if err != nil {
		return err
	}
	o.Once = rand.Text() // another form is another start
	view := lotPreview{File: table.name, Sum: table.sum(), Options: &o}
	if err := json.Unmarshal(got.Bytes(), &view.understood); err != nil {
		return fmt.Errorf("lots: dry run: %w", err)
	}
	status := http.StatusOK
	if o.Problem.EN != "" {
		status = http.StatusUnprocessableEntity
	}
	return l.frame.Render(w, r, status, frame.Screen{Name: "lotpreview", Body: view})
}

// fieldsOfLots are the parameters of the API that have a field in the form.
var fieldsOfLots = []string{"jpyPerUSD", "target", "rate", "landing"}

// blame says which field is wrong, and what it should be.
func (o *lotOptions) blame(field string) {
	o.Wrong, o.Problem = field, message.Say("page/lots.wrong_"+field, nil)
}
