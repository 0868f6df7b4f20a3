package batches

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/batch"
	"ushuru/pkg/cost"
	"ushuru/pkg/export"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

const (
	resultsPage = 200 // rows in memory at once
	resultsTurn = 50  // rows that are composed in one turn
	// writeTimeout is for sending that many results over a slow line.
	writeTimeout = time.Minute
)

// resultFormat is a format of the results of a batch.
type resultFormat struct {
	name      string
	mediaType string
	extension string
	begin     func(w io.Writer, b body, view tableView) (resultWriter, error)
}

// resultWriter writes the results of a batch one by one, with the cost on the terms of the batch.
type resultWriter interface {
	result(item batch.Item, priced pricer) error
	end() error
}

// resultFormats are all formats of results. The first is the default.
var resultFormats = []resultFormat{
	{"json", "application/json", "json", beginJSON},
	{"ndjson", "application/x-ndjson", "ndjson", beginLines},
	{"csv", "text/csv", "csv", beginTable(export.NewCSV, export.ReadByCSV)},
	{
		"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx",
		beginTable(export.NewXLSX, export.ReadByXLSX),
	},
}

// GetResults answers GET /v1/batches/{id}/results: all rows with their results
// so far. It reads and sends them in pieces, so that the largest batch takes
// little memory.
func (s *Resource) GetResults(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	f, err := parseResultFormat(r)
	if err != nil {
		return err
	}
	part, err := parseResultPart(r)
	if err != nil {
		return err
	}
	bom, err := request.Flag(r.URL.Query(), "bom")
	if err != nil {
		return err
	}
	if r.Fields, err = terms.ReadFields(r, terms.OfRow); err != nil {
		return err
	}
	by, err := parseSort(r, part)
	if err != nil {
		return err
	}
	b, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	if isUnchanged(w, r, b, f) {
		return nil
	}
	release, err := s.Limits.TakeExport(r)
	if err != nil {
		return err
	}
	defer release()
	if by != "" { // all rows are read before the first is sent
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * writeTimeout))
	}
	rows, err := s.openResults(r.Context(), b, by, part)
	if err != nil {
		return err
	}
	following := ""
	if rows.more > 0 {
		following = request.SetNext(w, r.URL, strconv.Itoa(rows.more))
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
	view := tableView{View: r.View, fields: r.Fields, bom: bom, lines: s.costLines(), following: following}
	if err := s.sendResults(w, r, f, b, rows, view); err != nil {
		request.SetError(w, err)
		panic(http.ErrAbortHandler) // half a response must not look complete
	}
	return nil
}

// parseResultFormat returns the format that the query or Accept requests.
func parseResultFormat(r *request.Request) (resultFormat, error) {
	if name := r.URL.Query().Get("format"); name != "" {
		for _, f := range resultFormats {
			if f.name == name {
				return f, nil
			}
		}
		return resultFormat{}, errFormatUnknown
	}
	offered := make([]string, len(resultFormats))
	for i, f := range resultFormats {
		offered[i] = f.mediaType
	}
	wanted := request.MediaType(r.Header.Values("Accept"), offered...)
	return resultFormats[slices.Index(offered, wanted)], nil
}

// resultPart is the part of a batch's results that a request wants.
type resultPart struct {
	from  int // index of a row
	limit int // 0 means all
	state batch.State
	since time.Time // rows that ended then or later; zero means all
}

// parseResultPart parses the parameters cursor, limit, state and since.
func parseResultPart(r *request.Request) (part resultPart, err error) {
	query := r.URL.Query()
	if query.Get("limit") != "" {
		if part.limit, err = request.PageSize(r.URL.Query()); err != nil {
			return part, err
		}
	}
	if part.from, err = request.Cursor(query); err != nil {
		return part, err
	}
	part.state = batch.State(query.Get("state"))
	if part.state != "" && !slices.Contains(batch.States(), part.state) {
		return part, errStateUnknown
	}
	if text := query.Get("since"); text != "" {
		if part.since, err = time.Parse(time.RFC3339, text); err != nil {
			return part, errSinceInvalid.WithCause(err)
		}
	}
	return part, nil
}

// parseSort returns the parameter sort, which orders all rows; empty without it.
func parseSort(r *request.Request, part resultPart) (by string, err error) {
	by = r.URL.Query().Get("sort")
	if _, known := sortKeys[by]; by != "" && (!known || part.state != "" || !part.since.IsZero()) {
		return "", errSortUnknown
	}
	return by, nil
}

// isUnchanged answers 304 to a caller who has the results of a batch that has ended. They
// change only when the day changes for which the cost is calculated, when failed rows are
// retried, or with the program.
func isUnchanged(w http.ResponseWriter, r *request.Request, b *batch.Batch, f resultFormat) bool {
	if b.Ended.IsZero() {
		return false
	}
	identity := fmt.Sprintf("%s %d %s %s %s %s %s", b.ID, b.Ended.UnixMilli(), f.name, r.URL.RawQuery, r.Lang,
		time.Now().In(localtime.Zone).Format(time.DateOnly), programVersion())
	tag := request.TagOf([]byte(identity))
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Add("Vary", "Accept")
	for known := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == strings.TrimPrefix(tag, "W/") {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// programVersion says what the program was built of.
var programVersion = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprint(info)
})

// openResults opens a batch and reads its first rows, before the response begins. To sort
// them it reads all rows once before, and remembers a number for each.
func (s *Resource) openResults(ctx context.Context, b *batch.Batch, by string, part resultPart) (*resultRows, error) {
	reader, err := s.Batches.Read(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	if !part.since.IsZero() {
		if err := reader.Since(ctx, b, part.since); err != nil {
			return nil, err
		}
	}
	rows, limit := &resultRows{reader: reader}, cmp.Or(part.limit, batch.MaxRows)
	if by == "" {
		rows.order, rows.more = reader.Choose(part.from, limit, part.state)
		return rows, rows.read(ctx)
	}
	if rows.order, err = s.sortedRows(ctx, reader, b, by); err != nil {
		return nil, err
	}
	from := min(part.from, len(rows.order))
	to := min(from+limit, len(rows.order))
	if to < len(rows.order) {
		rows.more = to
	}
	rows.order = rows.order[from:to]
	return rows, rows.read(ctx)
}

// resultRows reads the rows of a part of a batch page by page.
type resultRows struct {
	reader *batch.Reader
	order  []int        // indexes of the rows
	items  []batch.Item // the page
	next   int          // index of order; -1 after the last page
	more   int          // cursor of the rows after the part; not above 0 when there are none
}

func (rows *resultRows) last() bool { return rows.next < 0 }

// read reads the next page.
func (rows *resultRows) read(ctx context.Context) (err error) {
	end := min(rows.next+resultsPage, len(rows.order))
	rows.items, err = rows.reader.Items(ctx, rows.order[rows.next:end], true)
	if rows.next = end; end == len(rows.order) {
		rows.next = -1
	}
	return err
}

// sendResults writes the first rows, and then reads and writes the others.
func (s *Resource) sendResults(
	w http.ResponseWriter, r *request.Request, f resultFormat, b *batch.Batch, from *resultRows, view tableView,
) (err error) {
	control, processor := http.NewResponseController(w), s.Limits.Turn(b.Owner)
	defer processor.Give()
	var page bytes.Buffer
	out, err := f.begin(&page, newBody(b), view)
	if err != nil {
		return err
	}
	for {
		if err = s.formatRows(r.Context(), out, from, b.Options.OfCost(), processor); err != nil {
			return err
		}
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // a connection that does not support deadlines needs none
		if _, err = page.WriteTo(w); err != nil || from.last() {
			return err
		}
		if err = from.read(r.Context()); err != nil {
			return err
		}
	}
}

// formatRows writes rows, and the end after the last, a few in each turn at a processor.
func (s *Resource) formatRows(
	ctx context.Context, out resultWriter, from *resultRows, wanted vehicle.Terms, processor *pace.Turn,
) error {
	defer processor.Give()
	for rows := range slices.Chunk(from.items, resultsTurn) {
		processor.Give()
		if err := processor.Take(ctx); err != nil {
			return err
		}
		for _, item := range rows {
			if err := out.result(item, pricer{s.Costs, wanted}); err != nil {
				return err
			}
		}
	}
	if from.last() {
		return out.end()
	}
	return nil
}

// pricer puts estimates on the terms of a batch.
type pricer struct {
	costs *cost.Tables
	terms vehicle.Terms
}

// json returns the estimate of a row as JSON; nil when it has none.
func (p pricer) json(item batch.Item) ([]byte, error) {
	if item.Result == nil {
		return nil, nil
	}
	return terms.Priced(p.costs, item.Result, p.terms, sourceOf(item), nil)
}

// value returns some members of the estimate of a row; nil when it has none.
func (p pricer) value(item batch.Item, read request.Fields) (*vehicle.Estimate, error) {
	if item.Result == nil {
		return nil, nil //nolint:nilnil // it has none
	}
	return terms.PricedValue(p.costs, item.Result, p.terms, sourceOf(item), read)
}

func sourceOf(item batch.Item) vehicle.Source {
	if item.Car != nil {
		return vehicle.FromRequest
	}
	return vehicle.FromListing
}

// tableView is how a caller wants to see results.
type tableView struct {
	message.View

	fields request.Fields // of JSON
	bom    bool           // of CSV

	lines     []export.CostLine
	following string // cursor of the rows that follow; "" for none
}

// costLines are the lines that a cost can have.
func (s *Resource) costLines() (lines []export.CostLine) {
	for _, code := range s.Costs.Codes() {
		lines = append(lines, export.CostLine(code))
	}
	return lines
}
