package batches

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/batch"
	"ushuru/pkg/pace"
	"ushuru/pkg/vehicle"
)

// itemBody is a row of a batch as its caller sees it.
type itemBody struct {
	Row       int             `json:"row"`
	Sheet     string          `json:"sheet,omitempty"` // of several in a workbook
	Reference string          `json:"reference,omitempty"`
	URL       string          `json:"url"`
	ModelBody string          `json:"modelBody,omitempty"`
	Car       json.RawMessage `json:"car,omitempty"` // that the row describes
	Basis     string          `json:"priceBasis,omitempty"`
	Known     json.RawMessage `json:"known,omitempty"`
	Priced    bool            `json:"priceCandidates,omitempty"`
	State     batch.State     `json:"state"`
	SameAs    int             `json:"sameAs,omitempty"` // row with the same listing; its outcome applies
	SameSheet string          `json:"sameAsSheet,omitempty"`
	Job       string          `json:"job,omitempty"`
	Error     *vehicle.Error  `json:"error,omitempty"`

	Columns map[string]string `json:"columns,omitempty"` // the caller's own
}

// ListItems answers GET /v1/batches/{id}/items.
func (s *Resource) ListItems(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	limit, err := request.PageSize(r.URL.Query())
	if err != nil {
		return err
	}
	query := r.URL.Query()
	from, err := request.Cursor(query)
	if err != nil {
		return err
	}
	state := batch.State(query.Get("state"))
	if state != "" && !slices.Contains(batch.States(), state) {
		return errStateUnknown
	}
	b, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	reader, err := s.Batches.Read(ctx, b.ID)
	if err != nil {
		return err
	}
	items, next, err := reader.Next(ctx, from, limit, state, false)
	if err != nil {
		return err
	}
	body := struct {
		Items []itemBody `json:"items"`
		Next  string     `json:"next,omitempty"`
	}{Items: make([]itemBody, 0, len(items))}
	for _, item := range items {
		body.Items = append(body.Items, newItemBody(item, b.Options.Columns))
	}
	if next >= 0 {
		body.Next = request.SetNext(w, r.URL, strconv.Itoa(next))
	}
	return request.WriteJSON(w, http.StatusOK, body)
}

func newItemBody(item batch.Item, columns []string) itemBody {
	body := itemBody{
		Car: item.Car, Basis: item.PriceBasis, Columns: ownColumns(columns, item.Own),
		Row: item.Number, Reference: item.Reference, URL: item.URL, ModelBody: item.ModelBody, Known: item.Known,
		Priced: item.PriceCandidates,
		State:  item.State, Job: item.Job, SameAs: item.DuplicateRow,
		Sheet: item.Sheet, SameSheet: item.DuplicateSheet,
	}
	if item.Error != nil {
		why := await.ErrorProblem(item.Error).Body()
		body.Error = &why
	}
	return body
}

// Retry answers POST /v1/batches/{id}/retry: failed and cancelled rows wait again, all of them or
// those that the parameters "row" and "sheet" name.
func (s *Resource) Retry(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	b, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	reader, err := s.Batches.Read(r.Context(), b.ID)
	if err != nil {
		return err
	}
	rows, err := rowsNamed(r.Context(), r.URL.Query(), reader)
	if err != nil {
		return err
	}
	same, err := s.Work.Begin(w, r, rows)
	if err != nil {
		return err
	}
	// The name of the retry is stored before it is carried out: the same
	// request under one Idempotency-Key finds that it was, or carries it out.
	name, err := same.SetOutcome(r.Context(), "retry", rand.Text())
	if err != nil {
		return err
	}
	ctx := r.Context()
	done, err := s.Batches.WasRetried(ctx, b.ID, name)
	if err != nil {
		return err
	}
	if !done {
		open, again := reader.Retried(rows)
		if again == 0 {
			return batch.ErrNoneFailed
		}
		promise := pace.Kept{Name: batch.PromiseName(b.ID), Size: int64(open+again) * batch.RowRoom, TTL: batch.AccountTTL}
		leave, err := s.Limits.TakeRows(w, r, again, promise)
		if err != nil {
			return err
		}
		defer leave()
		if err := s.Batches.Retry(ctx, b.ID, name, rows...); err != nil {
			return errors.Join(err, s.giveBackUnretried(r, b.ID, name, again))
		}
	}
	if err := s.Tasks.EnqueueDispatch(ctx); err != nil { // the workers also check by themselves
		s.Log.WarnContext(ctx, "batch dispatch not enqueued", "error", err)
	}
	return s.Get(w, plain)
}

// rowsNamed returns the indexes of the rows that a query names by their numbers in one sheet, as the
// results do; nil for no names. Of a repeated row it is the index of the first.
func rowsNamed(ctx context.Context, query url.Values, reader *batch.Reader) ([]int, error) {
	unknown := problem.Field("row", "row")
	if !query.Has("row") && !query.Has("sheet") {
		return nil, nil
	}
	numbers := map[int]bool{}
	for _, name := range query["row"] {
		number, err := strconv.Atoi(name)
		if err != nil {
			return nil, unknown
		}
		numbers[number] = true
	}
	rows, err := reader.Named(ctx, numbers, query.Get("sheet"))
	if err == nil && (len(rows) == 0 || len(rows) < len(numbers)) {
		err = unknown
	}
	return rows, err
}

// giveBackUnretried gives back the room of rows that were not retried. Rows that have not ended yet
// keep the room that they had before; so do those that may wait again although the answer was lost.
func (s *Resource) giveBackUnretried(r *request.Request, id, name string, rows int) error {
	done, err := s.Batches.WasRetried(context.WithoutCancel(r.Context()), id, name)
	if err != nil || done {
		return nil //nolint:nilerr // the error of the request is told
	}
	return s.Limits.GiveBack(r, pace.Kept{Name: batch.PromiseName(id), Size: int64(rows) * batch.RowRoom})
}
