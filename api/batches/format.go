package batches

import (
	"encoding/json"
	"fmt"
	"io"

	"ushuru/api/await"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/export"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// resultBody is one row of a batch with its estimate.
type resultBody struct {
	itemBody
	Estimate json.RawMessage `json:"estimate,omitempty"`
}

// lineWriter writes results as JSON, one a line.
type lineWriter struct {
	w       io.Writer
	view    tableView
	columns []string // the caller's own
}

func beginLines(w io.Writer, b body, view tableView) (resultWriter, error) {
	return lineWriter{w, view, b.columns}, nil
}

func (l lineWriter) result(item batch.Item, priced pricer) error {
	data, err := l.encode(item, priced)
	if err == nil {
		_, err = l.w.Write(append(l.view.Of(data), '\n'))
	}
	return err
}

func (l lineWriter) encode(item batch.Item, priced pricer) ([]byte, error) {
	estimate, err := priced.json(item)
	if err != nil {
		return nil, err
	}
	return plainjson.Encode(resultBody{newItemBody(item, l.columns), l.view.fields.Of(estimate, l.view.View)})
}

func (lineWriter) end() error { return nil }

// jsonWriter writes results as one JSON value, also with one result a line.
type jsonWriter struct {
	lineWriter
	started bool
	draft   bool   // a row has Swahili that no native speaker has checked
	next    string // cursor of the rows that follow; "" for none
}

func beginJSON(w io.Writer, b body, view tableView) (resultWriter, error) {
	data, err := plainjson.Encode(b)
	if err != nil {
		return nil, err
	}
	data, draft := view.Part(data)
	_, err = fmt.Fprintf(w, `{"batch":%s,"results":[`, data)
	return &jsonWriter{lineWriter: lineWriter{w, view, b.columns}, draft: draft, next: view.following}, err
}

func (j *jsonWriter) result(item batch.Item, priced pricer) error {
	separator := "\n"
	if j.started {
		separator = ","
	}
	j.started = true
	data, err := j.encode(item, priced)
	if err != nil {
		return err
	}
	data, draft := j.view.Part(data)
	j.draft = j.draft || draft
	_, err = fmt.Fprintf(j.w, "%s%s\n", separator, data)
	return err
}

func (j *jsonWriter) end() error {
	end := "]"
	if j.next != "" {
		end += fmt.Sprintf(`,"next":%q`, j.next)
	}
	if j.draft {
		end += `,"draft":true`
	}
	_, err := io.WriteString(j.w, end+"}")
	return err
}

// tableWriter writes results as a table.
type tableWriter struct {
	table export.Writer
	lang  string
	read  request.Fields // of an estimate
}

func beginTable(
	begin func(io.Writer, export.Options) (export.Writer, error), members string,
) func(io.Writer, body, tableView) (resultWriter, error) {
	read := request.Only(members)
	return func(w io.Writer, b body, view tableView) (resultWriter, error) {
		table, err := begin(w, export.Options{
			Lang: view.Lang, BOM: view.bom, Columns: b.columns, Sheets: b.sheets, Lines: view.lines, Batch: b.ID,
			Terms: b.Options.Terms,
		})
		return tableWriter{table, view.Lang, read}, err
	}
}

func (t tableWriter) result(item batch.Item, priced pricer) (err error) {
	line := export.Line{
		Number: item.Number, Sheet: item.Sheet, Reference: item.Reference, URL: item.URL,
		State: item.State, Basis: item.PriceBasis, Own: item.Own,
	}
	if item.Error != nil {
		line.Code, line.Reason = item.Error.Code, item.Error.In(t.lang)
		line.Car = await.ErrorProblem(item.Error).Car
	}
	if line.Car == nil && item.Car != nil { // that the row describes
		line.Car = &vehicle.Car{}
		if err := json.Unmarshal(item.Car, line.Car); err != nil {
			return fmt.Errorf("batches: result: %w", err)
		}
	}
	if line.Estimate, err = priced.value(item, t.read); err != nil {
		return err
	}
	return t.table.Line(line)
}

func (t tableWriter) end() error { return t.table.Close() }
