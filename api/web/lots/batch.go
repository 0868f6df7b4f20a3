package lots

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"ushuru/api/web/frame"
	"ushuru/pkg/export"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// lotRows is how many rows a page of a batch shows, and allRows how many it shows to be
// printed.
const (
	lotRows = 50
	allRows = 1000
)

// lotPage is the page of a batch.
type lotPage struct {
	Batch lotBatch
	Rows  []lotResult
	Sort  string
	Sorts []string // orders that make sense
	Next  string   // address of the rows that follow
	First string   // address of the first rows, unless they are shown
	All   string   // address of all rows on one page, to be printed
	Again int      // rows that have failed and can succeed
}

// States returns the states that rows have, in the order of their life.
func (l lotPage) States() []string {
	all := []string{"waiting", "running", "succeeded", "failed", "rejected", "cancelled"}
	return slices.DeleteFunc(all, func(state string) bool { return l.Batch.Counts[state] == 0 })
}

// lotResult is a row of a batch with its outcome.
type lotResult struct {
	lotRow

	State    string            `json:"state"`
	SameAs   int               `json:"sameAs"`
	Failure  *vehicle.Error    `json:"error"`
	Estimate *vehicle.Estimate `json:"estimate"`

	lang  string
	batch *lotBatch
}

// Title returns what names the row: the car, as far as it is known.
func (l lotResult) Title() string {
	if l.Estimate != nil {
		return frame.NameOf(l.Estimate.Car)
	}
	if l.Failure != nil && l.Failure.Car != nil { // as far as it was read
		return cmp.Or(frame.NameOf(*l.Failure.Car), l.Name())
	}
	return l.Name()
}

// Facts returns what else is known of the car.
func (l lotResult) Facts() string {
	if l.Estimate == nil {
		return ""
	}
	return frame.FactsOf(l.Estimate.Car, l.lang)
}

// Link returns the address of the listing; "" when it is none that a browser may follow.
func (l lotResult) Link() string {
	if l.State == "rejected" {
		return ""
	}
	return frame.Followable(l.URL)
}

// Total returns the cost on the road; nil when it is not known.
func (l lotResult) Total() *vehicle.Sum {
	if l.Estimate == nil || l.Estimate.Summary == nil {
		return nil
	}
	return l.Estimate.Summary.OnTheRoad
}

// Taxes returns the sum without the price of the car, when that is all that is known.
func (l lotResult) Taxes() *vehicle.Sum {
	if l.Estimate == nil || l.Estimate.Summary == nil {
		return nil
	}
	return l.Estimate.Summary.PortAndTaxesOnly
}

// Price returns the price of the car in dollars, of the row or of its page; "" without one.
func (l lotResult) Price() string {
	if l.Estimate != nil {
		l.Car.CFPriceUSD, l.Car.FOBPriceUSD = l.Estimate.Car.CFPriceUSD, l.Estimate.Car.FOBPriceUSD
	}
	return l.lotRow.Price()
}

// PriceBasis returns what the price of the car is.
func (l lotResult) PriceBasis() string {
	switch {
	case l.Basis != "":
		return l.Basis
	case l.Estimate != nil && l.Estimate.Car.CFPriceUSD != nil:
		return "cf"
	}
	return "fob"
}

// HighestPrice returns the highest price at which the car meets the target of the batch; ""
// without one.
func (l lotResult) HighestPrice() string {
	if l.Estimate == nil || l.Estimate.MaxPrice == nil {
		return ""
	}
	if limits := l.Estimate.MaxPrice.FOB; limits != nil && limits.Likely != nil {
		return frame.InDollars(*limits.Likely)
	}
	return ""
}

// Margin returns how much that is above the price of the car; "" when it is not known.
func (l lotResult) Margin() string {
	if l.Estimate == nil {
		return ""
	}
	margin, known := export.Margin(l.Estimate)
	if !known {
		return ""
	}
	return frame.InDollars(margin.Round(0).IntPart())
}

// Doubt returns the gravest doubt about the car; empty for none.
func (l lotResult) Doubt() message.Text {
	if l.Estimate == nil || len(l.Estimate.Doubts) == 0 {
		return message.Text{}
	}
	return l.Estimate.Doubts[0].Text
}

// wholeForm leads to the whole answer of a row.
type wholeForm struct {
	Action string
	Fields [][2]string
}

// Whole returns the form that leads to the whole answer on the terms of the batch; nil for a row
// that has none, or whose number the page of an answer cannot repeat: that page knows neither what
// an auction adds to the price of the row, nor all costs that a batch can have.
func (l lotResult) Whole() *wholeForm {
	if l.Estimate == nil || l.Basis == "start" || l.Basis == "hammer" || l.batch.Options.Costs != nil {
		return nil
	}
	form := &wholeForm{Action: "/go"}
	add := func(name, value string) {
		if value != "" && value != "0" {
			form.Fields = append(form.Fields, [2]string{name, value})
		}
	}
	if l.URL != "" {
		add("u", l.Link())
	} else {
		form.Action = "/hand"
		add("make", l.Car.Make)
		add("model", l.Car.Model)
		add("code", l.Car.ModelCode)
	}
	add("modelBody", l.Car.ModelBody)
	add("year", strconv.Itoa(l.Car.Year))
	add("cc", strconv.Itoa(l.Car.EngineCC))
	add("fuel", strings.ToLower(l.Car.Fuel))
	switch {
	case l.Car.CFPriceUSD != nil:
		add("price", l.Car.CFPriceUSD.String())
		add("basis", "cf")
	case l.Car.FOBPriceUSD != nil:
		add("price", l.Car.FOBPriceUSD.String())
		add("basis", "fob")
	}
	if rate := l.batch.Options.Rate; rate != nil {
		add("rate", rate.String())
	}
	if days := l.batch.Options.Landing; days != nil {
		add("landing", days.From+".."+days.To)
	}
	return form
}

// CanRetry reports whether the row has failed, its batch has ended, and it can succeed.
func (l lotResult) CanRetry() bool {
	return l.Failure != nil && l.Failure.Retryable != nil && *l.Failure.Retryable && !l.batch.Runs()
}

// Why returns why the row has no result.
func (l lotResult) Why() message.Text {
	if l.Failure == nil {
		return message.Text{}
	}
	return frame.TextOf(frame.NoticeOf(*l.Failure))
}

// lot responds with the progress of a batch and with its rows.
func (l *Lots) lot(w http.ResponseWriter, r *http.Request) error {
	s, err := l.sessionOf(r)
	if err == nil {
		err = l.renderLot(w, r, s)
	}
	return l.withoutSession(w, r, err)
}

func (l *Lots) renderLot(w http.ResponseWriter, r *http.Request, s session) error {
	id := mux.Vars(r)["id"]
	view := lotPage{Sorts: []string{"", "onTheRoad"}}
	if err := l.getKeyed(r.Context(), s, "/v1/batches/"+id, &view.Batch); err != nil {
		return err
	}
	if view.Batch.Options.Target != nil {
		view.Sorts = append(view.Sorts, "maxPrice", "margin")
	}
	asked := r.URL.Query()
	if sort := asked.Get("sort"); slices.Contains(view.Sorts, sort) {
		view.Sort = sort
	}
	rows := lotRows
	if asked.Has("all") {
		rows = allRows
	}
	query := url.Values{"format": {"json"}, "limit": {strconv.Itoa(rows)}}
	if view.Sort != "" {
		query.Set("sort", view.Sort)
	}
	if from, err := strconv.Atoi(asked.Get("from")); err == nil && from > 0 {
		query.Set("cursor", strconv.Itoa(from))
		view.First = lotAddress(id, view.Sort, "")
	}
	var got struct {
		Results []lotResult `json:"results"`
		Next    string      `json:"next"`
	}
	if err := l.getKeyed(r.Context(), s, "/v1/batches/"+id+"/results?"+query.Encode(), &got); err != nil {
		return err
	}
	var err error
	if view.Again, err = l.countRetryable(r.Context(), s, view.Batch); err != nil {
		return err
	}
	lang := l.frame.Language(w, r)
	for i := range got.Results {
		got.Results[i].lang, got.Results[i].batch = lang, &view.Batch
	}
	view.Rows = got.Results
	if got.Next != "" {
		view.Next = lotAddress(id, view.Sort, got.Next)
		if rows == lotRows {
			view.All = Path + "/" + id + "?all=1&sort=" + view.Sort
		}
	}
	shown := frame.Screen{Name: "lot", Title: "lots.batch", Body: view}
	if view.Batch.Runs() {
		shown.Again = reloadLots
	}
	return l.frame.Render(w, r, http.StatusOK, shown)
}

// countRetryable returns how many of the first failed rows of a batch that has ended can succeed.
func (l *Lots) countRetryable(ctx context.Context, s session, b lotBatch) (count int, err error) {
	if b.Runs() || b.Failed() == 0 {
		return 0, nil
	}
	var failed struct {
		Items []lotResult `json:"items"`
	}
	err = l.getKeyed(ctx, s, "/v1/batches/"+b.ID+"/items?state=failed&limit="+strconv.Itoa(allRows), &failed)
	for _, row := range failed.Items {
		if row.Failure != nil && row.Failure.Retryable != nil && *row.Failure.Retryable {
			count++
		}
	}
	return count, err
}

// lotAddress returns the address of rows of a batch.
func lotAddress(id, sort, from string) string {
	query := url.Values{}
	if sort != "" {
		query.Set("sort", sort)
	}
	if from != "" {
		query.Set("from", from)
	}
	if len(query) == 0 {
		return Path + "/" + id
	}
	return Path + "/" + id + "?" + query.Encode()
}
