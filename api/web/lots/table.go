package lots

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/pace"
	"ushuru/pkg/redisx"
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

// lotTable is a table that was sent and not started yet.
//
//	page:table:<session>   hash: name, data (packed)
type lotTable struct {
	name string
	data []byte
}

// sum names the content, so that no other is started than what was seen.
func (t lotTable) sum() string {
	sum := sha256.Sum256(t.data)
	return hex.EncodeToString(sum[:])
}

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

// lookAt shows how a table is understood that was sent, with what its caller says beside it.
func (l *Lots) lookAt(w http.ResponseWriter, r *http.Request, s session) error {
	asked := r.URL.Query()
	table, err := l.tableOf(r.Context(), s, asked.Get("sum"))
	if err == nil {
		err = l.preview(w, r, s, table, optionsOf(asked))
	}
	return l.saidOnLots(w, r, s, err)
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

// errNoFile is the response to a form without the file of a table.
var errNoFile = problem.Because(http.StatusBadRequest, message.New("page/lots.no_file", nil), nil)

// wrongFile is the response to a file that is no table.
func wrongFile(why, name string) error {
	if name == "" {
		return errNoFile // none was chosen
	}
	return problem.Because(http.StatusBadRequest, message.New("page/lots."+why, message.Values{"name": name}), nil)
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
