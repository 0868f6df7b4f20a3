package console

import (
	"context"
	_ "embed" // the table of actions
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/mux"
	"github.com/oasdiff/yaml"

	"ushuru/api/problem"
	"ushuru/pkg/batch"
	"ushuru/pkg/keys"
	"ushuru/pkg/operate"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
)

// Action is something that an operator can do. Each has a command that does the same. Its fields
// are explained in actions.yaml.
type Action struct {
	Title, Ask, Done, Command string

	Danger bool
	Fields []Field
}

// Field is an input of a form.
type Field struct {
	Name, Label string
	Type        string // of the input: text, number or checkbox
	Required    bool
	Value       string // at first
}

//go:embed actions.yaml
var actionsFile []byte

// Actions returns all actions by their names in addresses. It panics when the table is broken,
// which only a broken build has.
var Actions = sync.OnceValue(func() (all map[string]Action) {
	if _, err := yaml.Unmarshal(actionsFile, &all, yaml.DecodeOpts{}); err != nil {
		panic("console: actions.yaml: " + err.Error())
	}
	return all
})

// operation is an action that an operator does now.
type operation struct {
	*operate.Operator

	ctx    context.Context //nolint:containedctx // of the one request
	about  string          // the id, site or code
	form   url.Values
	secret string // what the action has made, which is shown once
}

// operations are what the actions do, by their names.
var operations = map[string]func(*operation) error{
	"batch-cancel":   func(d *operation) error { return second(d.CancelBatch(d.ctx, d.about)) },
	"batch-retry":    func(d *operation) error { return second(d.RetryBatch(d.ctx, d.about)) },
	"job-retry":      func(d *operation) error { return second(d.RetryJob(d.ctx, d.about)) },
	"failures-retry": func(d *operation) error { return second(d.RetryFailed(d.ctx, operate.JobFilter{Code: d.about})) },
	"key-new": func(d *operation) (err error) {
		d.secret, _, err = d.CreateKey(d.ctx, d.form.Get("name"), time.Time{})
		return err
	},
	"key-limit":  limitKey,
	"key-revoke": func(d *operation) error { return second(d.RevokeKey(d.ctx, d.about, d.form.Has("keep"))) },
	"site-pause": func(d *operation) error {
		minutes, err := strconv.Atoi(d.form.Get("minutes"))
		if err != nil || minutes < 1 || minutes > int(operate.MaxPause/time.Minute) {
			return errMinutes
		}
		return second(d.PauseSite(d.ctx, d.about, time.Duration(minutes)*time.Minute))
	},
	"site-resume":    func(d *operation) error { return second(d.ResumeSite(d.ctx, d.about)) },
	"webhook-enable": func(d *operation) error { return d.EnableWebhook(d.ctx, d.about) },
	"webhook-retry":  func(d *operation) error { return second(d.RetryDeliveries(d.ctx, d.about, "")) },
	"breaker-reset":  func(d *operation) error { return d.ResetBreaker(d.ctx) },
	"ai-budget": func(d *operation) error {
		tokens, err := strconv.ParseInt(d.form.Get("tokens"), 10, 64)
		if err != nil {
			return errNumber
		}
		return d.SetAIBudget(d.ctx, tokens)
	},
	"authority-sync": func(d *operation) error { return second(d.Sync(d.ctx, tra.SyncOptions{})) },
}

// second returns the error of a result that the console does not show.
func second[T any](_ T, err error) error { return err }

// Errors of the fields of a form.
var (
	errNumber  = errors.New("console: not a whole number")
	errMinutes = errors.New("console: not a number of minutes")
)

// limitKey changes the limits that are filled in.
func limitKey(d *operation) error {
	given := map[string]json.Number{}
	for _, field := range Actions()["key-limit"].Fields {
		if number := strings.TrimSpace(d.form.Get(field.Name)); number != "" {
			given[field.Name] = json.Number(number)
		}
	}
	var change operate.LimitChange // whose fields have the names of the form
	data, err := json.Marshal(given)
	if err != nil || json.Unmarshal(data, &change) != nil {
		return errNumber
	}
	return second(d.LimitKey(d.ctx, d.about, change))
}

// form is what the page of an action shows.
type form struct {
	Action

	Name  string // of the action
	About string // what it is about; "" for the service
	Typed url.Values
}

// Value returns what a field shows.
func (f form) Value(of Field) string {
	if f.Typed.Has(of.Name) {
		return f.Typed.Get(of.Name)
	}
	return of.Value
}

// maxAbout bounds what an action is about.
const maxAbout = 200

// formOf returns the form of a request.
func (c *Console) formOf(r *http.Request, values url.Values) (form, error) {
	name := mux.Vars(r)["action"]
	found, ok := Actions()[name]
	about := values.Get("about")
	if !ok || len(about) > maxAbout || strings.ContainsFunc(about, func(r rune) bool { return r < ' ' }) {
		return form{}, errNothing
	}
	found.Command = strings.Replace(found.Command, "%s", about, 1)
	return form{Action: found, Name: name, About: about, Typed: values}, nil
}

// showAction responds with the form of an action.
func (c *Console) showAction(w http.ResponseWriter, r *http.Request) error {
	asked, err := c.formOf(r, r.URL.Query())
	if err != nil {
		return err
	}
	return c.render(w, r, http.StatusOK, "form", shown{Title: asked.Title, Body: asked})
}

// done is what the page after an action shows.
type done struct {
	Secret string // shown once
	Back   string
}

// act acts.
func (c *Console) act(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return problem.New(http.StatusBadRequest, "body_unreadable", nil).WithCause(err)
	}
	asked, err := c.formOf(r, r.PostForm)
	if err != nil {
		return err
	}
	d := &operation{c.options.Operate.As(userOf(r)), r.Context(), asked.About, r.PostForm, ""}
	err = operations[asked.Name](d)
	if why := refusal(err); why != "" {
		return c.render(w, r, http.StatusUnprocessableEntity, "form", shown{Title: asked.Title, Problem: why, Body: asked})
	}
	if err != nil {
		return err
	}
	if d.secret != "" {
		return c.render(w, r, http.StatusOK, "done", shown{Title: asked.Done, Body: done{d.secret, Path}})
	}
	http.Redirect(w, r, Path+"?done="+asked.Name, http.StatusSeeOther)
	return nil
}

// refusal returns why an action was refused, for the operator; "" when that is not the
// operator's to know, or there is no error.
func refusal(err error) string {
	if redisx.IsFull(err) {
		return "Redis has no memory left, so this was not done."
	}
	for known, text := range map[error]string{
		operate.ErrNotFound: "There is none with that id any more.", batch.ErrNoneFailed: "No listing of the batch has failed.",
		operate.ErrNoSite: "This is neither a known site nor a host.", operate.ErrLimit: "A limit must not be negative.",
		operate.ErrBudget: "A budget must not be negative.", operate.ErrDisabled: "The webhook is disabled: enable it first.",
		operate.ErrNotFailed: "The job has not failed.", operate.ErrBatchRow: "The job is of a batch: retry the batch.",
		operate.ErrUploadGone: "The caller's page or file is deleted; only the caller can send it again.",
		keys.ErrName:          "A name has 1 to 100 printable characters.", errNumber: "Write a whole number.",
		errMinutes:        "Write a number of minutes, of at most 30 days.",
		keys.ErrNameTaken: "A valid key has that name.", keys.ErrNotFound: "There is no key with that id.",
	} {
		if errors.Is(err, known) {
			return text
		}
	}
	return ""
}
