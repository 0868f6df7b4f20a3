package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"ushuru/pkg/batch"
	"ushuru/pkg/export"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

const (
	resultsPage = 200 // results in memory at once
	// writeTimeout is for sending that many over a slow line.
	writeTimeout = time.Minute
)

// form is a form in which results can be had.
type form struct {
	name      string
	mediaType string
	extension string
	begin     func(w io.Writer, b batchBody) (resultWriter, error)
}

// resultWriter writes the results of a batch, one after the other.
type resultWriter interface {
	result(item batch.Item, estimate json.RawMessage) error
	end() error
	discard() // in place of end
}

// forms of results; the first is that of whoever does not say.
var forms = []form{
	{"json", "application/json", "json", beginJSON},
	{"ndjson", "application/x-ndjson", "ndjson", beginLines},
	{"csv", "text/csv", "csv", beginTable(export.NewCSV)},
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx", beginTable(export.NewXLSX)},
}

// formOf is what the query or Accept asks for. Of several types in Accept the
// first that there is counts.
func formOf(r *http.Request) (form, error) {
	if name := r.URL.Query().Get("format"); name != "" {
		for _, f := range forms {
			if f.name == name {
				return f, nil
			}
		}
		return form{}, errFormatUnknown
	}
	for asked := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		mediaType, _, _ := mime.ParseMediaType(asked)
		for _, f := range forms {
			if f.mediaType == mediaType {
				return f, nil
			}
		}
	}
	return forms[0], nil
}

// getResults answers GET /v1/batches/{id}/results: all rows and what became of
// them so far, in pieces, so that no batch is too large for it.
func (s *Server) getResults(w http.ResponseWriter, r *http.Request) error {
	f, err := formOf(r)
	if err != nil {
		return err
	}
	b, err := s.batchOf(r)
	if err != nil {
		return err
	}
	reader, items, next, err := s.firstResults(r.Context(), b.ID)
	if err != nil {
		return batchReadProblem(err)
	}
	contentType := f.mediaType
	if strings.HasPrefix(contentType, "text/") {
		contentType += "; charset=utf-8"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="batch-%s.%s"`, b.ID, f.extension))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := s.sendResults(w, r, f, b, reader, items, next); err != nil {
		recorderOf(r).err = err
		panic(http.ErrAbortHandler) // half an answer must not look whole
	}
	return nil
}

// firstResults opens a batch and reads the first rows, before there is an
// answer.
func (s *Server) firstResults(parent context.Context, id string) (*batch.Reader, []batch.Item, int, error) {
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	reader, err := s.options.Batches.Read(ctx, id)
	if err != nil {
		return nil, nil, 0, err
	}
	items, next, err := reader.Next(ctx, 0, resultsPage, "", true)
	return reader, items, next, err
}

func (s *Server) sendResults(
	w http.ResponseWriter, r *http.Request, f form, b *batch.Batch, reader *batch.Reader, items []batch.Item, next int,
) (err error) {
	control := http.NewResponseController(w)
	out, err := f.begin(w, newBatchBody(b))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			out.discard()
		}
	}()
	for {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // a connection without deadlines needs none
		for _, item := range items {
			if err = s.sendResult(out, item, b.Options); err != nil {
				return err
			}
		}
		if next < 0 {
			return out.end()
		}
		ctx, cancel := context.WithTimeout(r.Context(), redisTimeout)
		items, next, err = reader.Next(ctx, next, resultsPage, "", true)
		cancel()
		if err != nil {
			return err
		}
	}
}

func (s *Server) sendResult(out resultWriter, item batch.Item, options batch.Options) error {
	estimate, err := s.priced(item.Result, options)
	if err != nil {
		return err
	}
	return out.result(item, estimate)
}

// priced is an estimate with its drive-away cost at the rate of the batch.
func (s *Server) priced(estimate json.RawMessage, options batch.Options) (json.RawMessage, error) {
	if options.Rate == "" || estimate == nil {
		return estimate, nil
	}
	rate, err := money.ParseNumber(options.Rate)
	if err != nil {
		return nil, err
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(estimate, &e); err != nil {
		return nil, fmt.Errorf("api: result: %w", err)
	}
	return plainjson.Encode(s.options.Costs.Apply(e, rate.Decimal(), time.Now()))
}

// resultBody is one row of a batch with its estimate.
type resultBody struct {
	itemBody
	Estimate json.RawMessage `json:"estimate,omitempty"`
}

// lineWriter writes results as JSON, one in a line.
type lineWriter struct{ w io.Writer }

func beginLines(w io.Writer, _ batchBody) (resultWriter, error) { return lineWriter{w}, nil }

func (l lineWriter) result(item batch.Item, estimate json.RawMessage) error {
	data, err := plainjson.Encode(resultBody{newItemBody(item), estimate})
	if err != nil {
		return err
	}
	_, err = l.w.Write(append(data, '\n'))
	return err
}

func (lineWriter) end() error { return nil }

func (lineWriter) discard() {}

// jsonWriter writes results as one JSON value, likewise a result in a line.
type jsonWriter struct {
	lineWriter
	begun bool
}

func beginJSON(w io.Writer, b batchBody) (resultWriter, error) {
	data, err := plainjson.Encode(b)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, `{"batch":%s,"results":[`, data)
	return &jsonWriter{lineWriter: lineWriter{w}}, err
}

func (j *jsonWriter) result(item batch.Item, estimate json.RawMessage) error {
	separator := "\n"
	if j.begun {
		separator = ","
	}
	j.begun = true
	if _, err := io.WriteString(j.w, separator); err != nil {
		return err
	}
	return j.lineWriter.result(item, estimate)
}

func (j *jsonWriter) end() error {
	_, err := io.WriteString(j.w, "]}")
	return err
}

// tableWriter writes results as a table for people.
type tableWriter struct{ table export.Writer }

func beginTable(begin func(io.Writer) (export.Writer, error)) func(io.Writer, batchBody) (resultWriter, error) {
	return func(w io.Writer, _ batchBody) (resultWriter, error) {
		table, err := begin(w)
		return tableWriter{table}, err
	}
}

func (t tableWriter) result(item batch.Item, estimate json.RawMessage) error {
	line := export.Line{Number: item.Number, Reference: item.Reference, URL: item.URL, State: item.State}
	if item.Error != nil {
		line.Code, line.Reason = item.Error.Code, item.Error.Message
	}
	if estimate != nil {
		line.Estimate = &vehicle.Estimate{}
		if err := json.Unmarshal(estimate, line.Estimate); err != nil {
			return fmt.Errorf("api: result: %w", err)
		}
	}
	return t.table.Line(line)
}

func (t tableWriter) end() error { return t.table.Close() }

func (t tableWriter) discard() { t.table.Discard() }
