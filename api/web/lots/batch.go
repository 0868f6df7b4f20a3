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

	batch *lotBatch
}

// Found returns what is known of the car and its cost; nothing without an estimate.
func (l lotResult) Found() vehicle.Estimate {
	found := *cmp.Or(l.Estimate, &vehicle.Estimate{})
	found.Summary = cmp.Or(found.Summary, &vehicle.Summary{})
	return found
}

// Title returns what names the row: the car, as far as it is known.
func (l lotResult) Title() string {
	if l.Estimate != nil {
		return frame.NameOf(l.Estimate.Car)
	}
	return cmp.Or(frame.NameOf(*cmp.Or(l.failure().Car, &vehicle.Car{})), l.Name())
}

// failure returns why the row has no estimate; nothing for one that has none.
func (l lotResult) failure() vehicle.Error { return *cmp.Or(l.Failure, &vehicle.Error{}) }

// Link returns the address of the listing; "" when it is none that a browser may follow.
func (l lotResult) Link() string {
	if l.State == "rejected" {
		return ""
	}
	return frame.Followable(l.URL)
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
	case l.Found().Car.CFPriceUSD != nil:
		return "cf"
	}
	return "fob"
}

// HighestPrice returns the highest price at which the car meets the target of the batch; ""
// without one.
func (l lotResult) HighestPrice() string {
	limits := cmp.Or(l.Found().MaxPrice, &vehicle.MaxPrice{}).FOB
	if limits == nil || limits.Likely == nil {
		return ""
	}
	return frame.InDollars(*limits.Likely)
}

// Margin returns how much that is above the price of the car; "" when it is not known.
func (l lotResult) Margin() string {
	found := l.Found()
	margin, known := export.Margin(&found)
	if !known {
		return ""
	}
	return frame.InDollars(margin.Round(0).IntPart())
}

// wholeForm leads to the whole answer of a row.
type wholeForm struct {
	Action string
	Fields url.Values
}

// Whole returns the form that leads to the whole answer on the terms of the batch; nil for a row
// that has none, or whose number the page of an answer cannot repeat: that page knows neither what
// an auction adds to the price of the row, nor all costs that a batch can have.
func (l lotResult) Whole() *wholeForm {
	if l.Estimate == nil || l.Basis == "start" || l.Basis == "hammer" || l.batch.Options.Costs != nil {
		return nil
	}
	fields := frame.FieldsOf(l.Car.Car())
	fields.Set("fuel", strings.ToLower(l.Car.Fuel))
	fields.Set("modelBody", l.Car.ModelBody)
	if rate := l.batch.Options.Rate; rate != nil {
		fields.Set("rate", rate.String())
	}
	if days := l.batch.Options.Landing; days != nil {
		fields.Set("landing", days.From+".."+days.To)
	}
	if l.URL != "" {
		fields.Set("u", l.Link())
		return &wholeForm{"/go", frame.Without(fields, "make")}
	}
	fields.Set("model", l.Car.Model)
	fields.Set("code", l.Car.ModelCode)
	return &wholeForm{"/hand", frame.Without(fields)}
}

// canSucceed reports whether the row has failed, and can succeed when it is tried again.
func (l lotResult) canSucceed() bool { return *cmp.Or(l.failure().Retryable, new(bool)) }

// CanRetry reports whether such a row can be tried again: its batch has ended.
func (l lotResult) CanRetry() bool { return l.canSucceed() && !l.batch.Runs() }

// Why returns why the row has no result, or the gravest doubt about the car; empty for none.
func (l lotResult) Why() message.Text {
	if l.Failure != nil {
		return frame.TextOf(frame.NoticeOf(*l.Failure))
	}
	return append(l.Found().Doubts, vehicle.Doubt{})[0].Text
}

// lot responds with the progress of a batch and with its rows.
func (l *Lots) lot(w http.ResponseWriter, r *http.Request, s session) error {
	id := mux.Vars(r)["id"]
	view := lotPage{Sorts: []string{"", "onTheRoad"}}
	if err := s.Get(r.Context(), "/v1/batches/"+id, &view.Batch); err != nil {
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
		view.First = frame.Address(Path+"/"+id, url.Values{"sort": {view.Sort}})
	}
	var got struct {
		Results []lotResult `json:"results"`
		Next    string      `json:"next"`
	}
	if err := s.Get(r.Context(), "/v1/batches/"+id+"/results?"+query.Encode(), &got); err != nil {
		return err
	}
	var err error
	if view.Again, err = countRetryable(r.Context(), s, view.Batch); err != nil {
		return err
	}
	for i := range got.Results {
		got.Results[i].batch = &view.Batch
	}
	view.Rows = got.Results
	if got.Next != "" {
		view.Next = frame.Address(Path+"/"+id, url.Values{"sort": {view.Sort}, "from": {got.Next}})
		if rows == lotRows {
			view.All = Path + "/" + id + "?all=1&sort=" + view.Sort
		}
	}
	shown := frame.Screen{Name: "lot", Body: view}
	if view.Batch.Runs() {
		shown.Again = reloadLots
	}
	return l.frame.Render(w, r, http.StatusOK, shown)
}

// countRetryable returns how many of the first failed rows of a batch that has ended can succeed.
func countRetryable(ctx context.Context, s session, b lotBatch) (count int, err error) {
	if b.Runs() || b.Failed() == 0 {
		return 0, nil
	}
	var failed struct {
		Items []lotResult `json:"items"`
	}
	err = s.Get(ctx, "/v1/batches/"+b.ID+"/items?state=failed&limit="+strconv.Itoa(allRows), &failed)
	for _, row := range failed.Items {
		if row.canSucceed() {
			count++
		}
	}
	return count, err
}
