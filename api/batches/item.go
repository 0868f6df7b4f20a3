package batches

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"ushuru/api/await"
	"ushuru/api/request"
	"ushuru/pkg/batch"
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
	reader, err := s.options.Batches.Read(ctx, b.ID)
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
