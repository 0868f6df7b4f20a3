package batches

import (
	"encoding/json"
	"net/http"
	"slices"

	"ushuru/api/await"
	"ushuru/api/batchrequest"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/lot"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// dryRunRows is how many rows a dry run shows.
const dryRunRows = 10

// dryRunBody says how a request for a batch is understood. Nothing of it is stored.
type dryRunBody struct {
	DryRun   bool     `json:"dryRun"`
	Rows     int      `json:"rows"`
	Valid    int      `json:"valid"`
	Repeated int      `json:"repeated"` // of the valid rows: those that duplicate an earlier one
	Rejected int      `json:"rejected"`
	Missing  []string `json:"missing,omitempty"` // options without which the batch is refused: jpyPerUSD
	// Questions are about the units of prices; without answers the batch is refused.
	Questions []lot.Question       `json:"questions,omitempty"`
	Options   batchrequest.Options `json:"options"`
	Table     *batchrequest.Table  `json:"table,omitempty"`
	Storage   await.Room           `json:"storage"`
	First     []dryRunRow          `json:"first"`              // the first rows
	Invalid   []problem.Row        `json:"problems,omitempty"` // of the first rows that are rejected
	Warnings  []vehicle.Warning    `json:"warnings,omitempty"`
	Object    string               `json:"object"` // batch_dry_run
}

// dryRunRow is a row as it is understood.
type dryRunRow struct {
	Row        int               `json:"row"`
	Sheet      string            `json:"sheet,omitempty"`
	Reference  string            `json:"reference,omitempty"`
	URL        string            `json:"url,omitempty"`
	ModelBody  string            `json:"modelBody,omitempty"`
	Car        json.RawMessage   `json:"car,omitempty"`
	PriceBasis string            `json:"priceBasis,omitempty"`
	Known      json.RawMessage   `json:"known,omitempty"`
	Columns    map[string]string `json:"columns,omitempty"`
	Error      *vehicle.Error    `json:"error,omitempty"`
}

// answerDryRun answers how a request for a batch is understood, whatever is wrong with its rows. It
// stores and counts nothing.
func (s *Resource) answerDryRun(w http.ResponseWriter, r *request.Request, req *batchrequest.Request) error {
	body := dryRunBody{
		Object: "batch_dry_run", DryRun: true,
		Rows: len(req.Rows), Questions: req.Questions(), Options: req.Options, Table: req.Table,
		First: []dryRunRow{}, Warnings: slices.Concat(r.Warnings(), req.Warnings()),
	}
	rows, err := req.CheckRows(&req.Options, s.listingURL)
	if err != nil { // any rate shows the rest
		body.Missing = []string{"jpyPerUSD"}
		guess := req.Options
		rate, _ := money.ParseNumber("150")
		guess.JPYPerUSD = &rate
		if rows, err = req.CheckRows(&guess, s.listingURL); err != nil {
			return err
		}
	}
	body.Repeated = batch.CountDuplicates(rows)
	for i, row := range rows {
		if row.RejectReason == nil {
			body.Valid++
		}
		if i < dryRunRows {
			body.First = append(body.First, dryRunRowOf(row, req.Columns, body.Missing != nil))
		}
	}
	body.Rejected = len(rows) - body.Valid
	if p := batchrequest.Invalid(rows); p != nil {
		body.Invalid = p.Rows
	}
	r.Place.Turn.Give()
	if body.Storage, err = s.Limits.Room(r, batch.Room("", rows)...); err != nil {
		return err
	}
	return request.WriteJSON(w, http.StatusOK, body)
}

// dryRunRowOf returns a row as it is understood; without its price when the rate of yen is
// missing.
func dryRunRowOf(row batch.Row, columns []string, unpriced bool) dryRunRow {
	shown := dryRunRow{
		Row: row.Number, Sheet: row.Sheet, Reference: row.Reference, URL: row.URL, ModelBody: row.ModelBody, Car: row.Car,
		PriceBasis: row.PriceBasis, Known: row.Known, Columns: ownColumns(columns, row.Own),
	}
	var car vehicle.QuoteInput
	if unpriced && json.Unmarshal(row.Car, &car) == nil {
		car.FOBPriceUSD, car.CFPriceUSD = nil, nil
		shown.Car, _ = json.Marshal(car) //nolint:errchkjson // its numbers were read from JSON
	}
	if row.RejectReason != nil {
		why := await.ErrorProblem(row.RejectReason).Body()
		shown.Error = &why
	}
	return shown
}

// ownColumns returns the caller's own cells by their columns.
func ownColumns(names, cells []string) map[string]string {
	own := map[string]string{}
	for i, cell := range cells {
		if i < len(names) && cell != "" {
			own[names[i]] = cell
		}
	}
	if len(own) == 0 {
		return nil
	}
	return own
}
