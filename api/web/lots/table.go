package lots

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/lot"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
	"ushuru/pkg/vehicle"
)

const (
	// maxTableForm allows for the form around the file.
	maxTableForm = maxLotsFile + 16<<10
	tableTimeout = time.Minute
	// maxTables is how many tables are received at once, and maxSessionTables those of
	// one session.
	maxTables        = 8
	maxSessionTables = 2

	// tableTTL is how long a table waits to be started. A key has one.
	tableTTL = 30 * time.Minute

	maxFileName  = 100 // characters of it that are shown
	shownProblem = 10  // rows with a problem that are shown
)

// tableType is the media type of every table: what it is, its bytes say.
var tableType = http.Header{"Content-Type": {"text/csv"}}

// fieldsOfLots are the parameters of the API that have a field in the form.
var fieldsOfLots = []string{"jpyPerUSD", "target", "rate", "landing"}

// Upload shows how a table is understood that a caller has sent.
func (l *Lots) Upload(w http.ResponseWriter, r *http.Request) error { return l.member(l.upload)(w, r) }

func (l *Lots) upload(w http.ResponseWriter, r *http.Request, s session) error {
	release, ok := l.tables.Take(pace.Bound{Owner: "", Most: maxTables}, pace.Bound{Owner: s.id, Most: maxSessionTables})
	if !ok {
		return l.renderLots(w, r, s, http.StatusServiceUnavailable, frame.TextOf(errBusy.Notice))
	}
	table, err := readTable(w, r)
	release()
	if err == nil {
		err = l.putTable(r.Context(), s, table)
	}
	if err != nil {
		return l.saidOnLots(w, r, s, err)
	}
	http.Redirect(w, r, Path+"/preview?sum="+table.sum(), http.StatusSeeOther) //nolint:gosec // a path of ours
	return nil
}

// readTable reads the file of a form.
func readTable(w http.ResponseWriter, r *http.Request) (table lotTable, err error) {
	frame.Bound(w, r, tableTimeout, maxTableForm)
	err = request.EachPart(r, func(part *multipart.Part) (err error) {
		if part.FormName() != "file" || table.data != nil {
			return nil
		}
		table.name = shortName(part.FileName())
		table.data, err = io.ReadAll(part)
		return err
	})
	switch {
	case err == nil && len(table.data) > maxLotsFile:
		err = problem.BodyTooLarge(maxLotsFile)
	case err == nil && table.data == nil:
		err = errNoFile
	case err == nil && len(table.data) == 0:
		err = wrongFile("empty", table.name)
	case err == nil && bytes.HasPrefix(table.data, []byte("%PDF")):
		err = wrongFile("pdf", table.name)
	}
	if err != nil {
		return lotTable{}, request.BodyProblem(err, problem.BodyTooLarge(maxLotsFile), errNoFile)
	}
	return table, nil
}

// shortName returns the beginning of a file's name.
func shortName(name string) string {
	letters := []rune(strings.ToValidUTF8(name, ""))
	return string(letters[:min(len(letters), maxFileName)])
}

// errNoFile is the response to a form without the file of a table.
var errNoFile = problem.Because(http.StatusBadRequest, message.New("page/lots.no_file", nil), nil)

// wrongFile is the response to a file that is no table.
func wrongFile(why, name string) error {
	if name == "" {
		return errNoFile // none was chosen
	}
	return problem.Because(http.StatusBadRequest, message.New("page/lots."+why, message.Values{"name": name}), nil)
}

// saidOnLots responds to a problem of a caller who has logged in with the page of batches.
// Other errors are returned.
func (l *Lots) saidOnLots(w http.ResponseWriter, r *http.Request, s session, err error) error {
	var why *problem.Problem
	if !errors.As(err, &why) || why.Status >= http.StatusInternalServerError || why.Status == http.StatusUnauthorized {
		return err
	}
	why.SetHeader(w.Header())
	said := frame.TextOf(why.Notice)
	if why.Code == "csv_header_missing" { // its own text is for programs
		said = message.Say("page/lots.no_columns", nil)
	}
	return l.renderLots(w, r, s, frame.StatusOf(why), said)
}

// lookAt shows how a table is understood that was sent, with what its caller says beside it.
func (l *Lots) lookAt(w http.ResponseWriter, r *http.Request, s session) error {
	asked := r.URL.Query()
	table, err := l.tableOf(r.Context(), s, asked.Get("sum"))
	if err == nil {
		err = l.preview(w, r, s, table, optionsOf(asked))
	}
	return l.saidOnLots(w, r, s, err)
}

// startLots starts the batch of a table that was seen. The same form that is sent twice
// starts one batch.
func (l *Lots) startLots(w http.ResponseWriter, r *http.Request, s session) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	form := r.PostForm
	table, err := l.tableOf(r.Context(), s, form.Get("sum"))
	if err != nil {
		return l.saidOnLots(w, r, s, err)
	}
	o := optionsOf(form)
	query, wrong := o.query()
	if wrong != "" {
		o.blame(wrong)
		return l.saidOnLots(w, r, s, l.preview(w, r, s, table, o))
	}
	header := http.Header{"Content-Type": tableType["Content-Type"], "Idempotency-Key": {"page-" + o.Once}}
	got, err := s.Do(r.Context(), http.MethodPost, "/v1/batches?"+query.Encode(), table.data, header)
	var why *problem.Problem
	switch {
	case err == nil:
		id := strings.TrimPrefix(got.Head.Get("Location"), "/v1/batches/")
		http.Redirect(w, r, Path+"/"+id, http.StatusSeeOther) //nolint:gosec // a path of ours
		return nil
	case errors.As(err, &why) && (why.Status == http.StatusBadRequest || why.Status == http.StatusUnprocessableEntity):
		o.Problem = frame.TextOf(why.Notice)
		if slices.Contains(fieldsOfLots, why.Param) {
			o.blame(why.Param)
		}
		if why.Code == "unit_unclear" { // its own text is for programs
			o.Problem = message.Say("page/lots.unit_missing", nil)
		}
		err = l.preview(w, r, s, table, o)
	}
	return l.saidOnLots(w, r, s, err)
}

// lotTable is a table that was sent and not started yet.
//
//	page:table:<session>   hash: name, data (packed)
type lotTable struct {
	name string
	data []byte
}

// sum names the content, so that no other is started than what was seen.
func (t lotTable) sum() string { return request.Hash(t.data) }

func keyTable(s session) string { return "page:table:" + s.id }

// putTable keeps the table of a session until it is started.
func (l *Lots) putTable(ctx context.Context, s session, table lotTable) error {
	pipe := l.options.Redis.Pipeline()
	pipe.Del(ctx, keyTable(s))
	pipe.HSet(ctx, keyTable(s), "name", table.name, "data", redisx.Pack(table.data))
	pipe.Expire(ctx, keyTable(s), tableTTL)
	if _, err := pipe.Exec(ctx); err != nil {
		return request.ErrUnavailable.WithCause(err)
	}
	return nil
}

var errNoTable = problem.Because(http.StatusConflict, message.New("page/lots.send_again", nil), nil)

// tableOf returns the table of a session; errNoTable when it is another one or gone.
func (l *Lots) tableOf(ctx context.Context, s session, sum string) (lotTable, error) {
	fields, err := l.options.Redis.HGetAll(ctx, keyTable(s)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return lotTable{}, request.ErrUnavailable.WithCause(err)
	}
	if fields["data"] == "" {
		return lotTable{}, errNoTable
	}
	data, err := redisx.Unpack([]byte(fields["data"]))
	if err != nil {
		return lotTable{}, err
	}
	table := lotTable{fields["name"], data}
	if table.sum() != sum {
		return lotTable{}, errNoTable
	}
	return table, nil
}

// lotPreview is the page that shows how a table is understood.
type lotPreview struct {
	understood

	File    string
	Sum     string
	Options *lotOptions
}

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

// NeedsYen reports whether the rate of yen is asked for.
func (l lotPreview) NeedsYen() bool { return len(l.Missing) > 0 || l.Options.Value("yen") != "" }

// Bad returns the first rows that are rejected.
func (l lotPreview) Bad() []lotRow { return l.Invalid[:min(len(l.Invalid), shownProblem)] }

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

// blame says which field is wrong, and what it should be.
func (o *lotOptions) blame(field string) {
	o.Wrong, o.Problem = field, message.Say("page/lots.wrong_"+field, nil)
}
