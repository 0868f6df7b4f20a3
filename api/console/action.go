package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/problem"
	"ushuru/pkg/batch"
	"ushuru/pkg/keys"
	"ushuru/pkg/operate"
	"ushuru/pkg/redisx"
	"ushuru/pkg/tra"
)

// action is something that an operator can do. Each has a command that does the same.
type action struct {
	Title   string // of its form and its button
	Ask     string // what it does
	Done    string // what it has done
	Command string // that does the same; %s is what it is about
	Danger  bool   // it cannot be undone
	Fields  []field
	// Do acts, on what the form is about. A text that it returns is shown once.
	Do func(ctx context.Context, o *operate.Operator, about string, form url.Values) (secret string, err error)
}

// field is an input of a form.
type field struct {
	Name, Label, Hint string
	Type              string // of the input: text, number or checkbox
	Required          bool
	Value             string // at first
}

// actions are all actions by their names in addresses.
var actions = map[string]action{
	"batch-cancel": {
		Title: "Cancel batch", Danger: true, Command: "ushuru batches cancel --operator %s",
		Ask:  "Its listings that have no outcome are cancelled. What has succeeded is kept.",
		Done: "The batch is cancelled.",
		Do:   about((*operate.Operator).CancelBatch),
	},
	"batch-retry": {
		Title: "Retry failed listings", Command: "ushuru batches retry --operator %s",
		Ask: "The listings of the batch that failed are tried again.", Done: "The failed listings are tried again.",
		Do: about((*operate.Operator).RetryBatch),
	},
	"job-retry": {
		Title: "Try again", Command: "ushuru jobs retry --operator %s",
		Ask: "The job is submitted again for its API key.", Done: "The job is submitted again.",
		Do: about((*operate.Operator).RetryJob),
	},
	"failures-retry": {
		Title: "Try all again", Command: "ushuru jobs retry --operator --code %s",
		Ask: "The jobs that have failed for this reason are submitted again for their API keys, and the listings of batches " +
			"are tried again. What only the caller can send again is left out.",
		Done: "All that can be tried again is.",
		Do: func(ctx context.Context, o *operate.Operator, code string, _ url.Values) (string, error) {
			_, err := o.RetryFailed(ctx, operate.JobFilter{Code: code})
			return "", err
		},
	},
	"key-new": {
		Title: "New key", Ask: "The key is shown once, on the next page.", Done: "This is the new key.",
		Command: "ushuru keys create NAME",
		Fields:  []field{{Name: "name", Label: "Name of the person or system", Type: "text", Required: true}},
		Do: func(ctx context.Context, o *operate.Operator, _ string, form url.Values) (string, error) {
			plain, _, err := o.CreateKey(ctx, form.Get("name"), time.Time{})
			return plain, err
		},
	},
	"key-limit": {
		Title: "Limit key", Ask: "Only what is filled in changes; 0 is the limit of the server.", Done: "The limits are set.",
		Command: "ushuru keys limit %s --jobs N",
		Fields: []field{
			{Name: "perMinute", Label: "Requests a minute that start work", Type: "number"},
			{Name: "jobs", Label: "Running jobs", Type: "number"},
			{Name: "batchItems", Label: "Listings in running batches", Type: "number"},
			{Name: "bytes", Label: "Bytes that are kept", Type: "number"},
			{Name: "aiTokens", Label: "Tokens of the AI a day", Type: "number"},
		},
		Do: limitKey,
	},
	"key-revoke": {
		Title: "Revoke key", Danger: true, Command: "ushuru keys revoke %s",
		Ask:    "The key is refused at once. Its jobs and batches are cancelled and its webhooks deleted.",
		Done:   "The key is revoked.",
		Fields: []field{{Name: "keep", Label: "Let its work end", Type: "checkbox"}},
		Do: func(ctx context.Context, o *operate.Operator, id string, form url.Values) (string, error) {
			_, err := o.RevokeKey(ctx, id, form.Has("keep"))
			return "", err
		},
	},
	"site-pause": {
		Title: "Pause site", Command: "ushuru sites pause %s",
		Ask:    "No page of the site is requested. People learn so at once, listings of batches wait.",
		Done:   "The site is paused.",
		Fields: []field{{Name: "minutes", Label: "Minutes", Type: "number", Required: true, Value: "60"}},
		Do: func(ctx context.Context, o *operate.Operator, site string, form url.Values) (string, error) {
			minutes, err := strconv.Atoi(form.Get("minutes"))
			if err != nil || minutes < 1 || minutes > int(operate.MaxPause/time.Minute) {
				return "", errMinutes
			}
			_, err = o.PauseSite(ctx, site, time.Duration(minutes)*time.Minute)
			return "", err
		},
	},
	"site-resume": {
		Title: "End pause", Ask: "Pages of the site are requested again.", Done: "The pause is over.",
		Command: "ushuru sites resume %s",
		Do:      about((*operate.Operator).ResumeSite),
	},
	"webhook-enable": {
		Title: "Enable webhook", Ask: "Events are sent to it again.", Done: "The webhook is enabled.",
		Command: "ushuru webhooks enable --operator %s",
		Do: func(ctx context.Context, o *operate.Operator, id string, _ url.Values) (string, error) {
			return "", o.EnableWebhook(ctx, id)
		},
	},
	"webhook-retry": {
		Title: "Send failed events again", Ask: "Its deliveries that have failed are sent again.",
		Done: "The failed events are sent again.", Command: "ushuru webhooks retry --operator %s",
		Do: func(ctx context.Context, o *operate.Operator, id string, _ url.Values) (string, error) {
			_, err := o.RetryDeliveries(ctx, id, "")
			return "", err
		},
	},
	"breaker-reset": {
		Title: "Reset breaker", Ask: "The workers call TRA's calculator again at once.", Done: "The breakers are reset.",
		Command: "ushuru breaker reset",
		Do: func(ctx context.Context, o *operate.Operator, _ string, _ url.Values) (string, error) {
			return "", o.ResetBreaker(ctx)
		},
	},
	"ai-budget": {
		Title: "Limit the AI today", Ask: "All workers use no more than so many tokens today; 0 is no limit.",
		Done: "The limit of today is set.", Command: "ushuru ai budget TOKENS",
		Fields: []field{{Name: "tokens", Label: "Tokens", Type: "number", Required: true}},
		Do: func(ctx context.Context, o *operate.Operator, _ string, form url.Values) (string, error) {
			tokens, err := strconv.ParseInt(form.Get("tokens"), 10, 64)
			if err != nil {
				return "", errNumber
			}
			return "", o.SetAIBudget(ctx, tokens)
		},
	},
	"authority-sync": {
		Title: "Sync lists", Ask: "A worker copies TRA's makes and models now.", Done: "A worker copies TRA's lists.",
		Command: "ushuru authority sync",
		Do: func(ctx context.Context, o *operate.Operator, _ string, _ url.Values) (string, error) {
			_, err := o.Sync(ctx, tra.SyncOptions{})
			return "", err
		},
	},
}

// about returns what does an action that needs nothing but what it is about.
func about[T any](
	do func(*operate.Operator, context.Context, string) (T, error),
) func(context.Context, *operate.Operator, string, url.Values) (string, error) {
	return func(ctx context.Context, o *operate.Operator, id string, _ url.Values) (string, error) {
		_, err := do(o, ctx, id)
		return "", err
	}
}

// Command is the command that does what an action of the console does.
type Command struct {
	Line   string   // as its form shows it; %s is what it is about
	Fields []string // the names of the fields of its form
}

// Commands returns the commands of all actions, by the names of these.
func Commands() map[string]Command {
	commands := make(map[string]Command, len(actions))
	for name, a := range actions {
		c := Command{Line: a.Command}
		for _, f := range a.Fields {
			c.Fields = append(c.Fields, f.Name)
		}
		commands[name] = c
	}
	return commands
}

// Errors of the fields of a form.
var (
	errNumber  = errors.New("console: not a whole number")
	errMinutes = errors.New("console: not a number of minutes")
)

// limitKey changes the limits that are filled in.
func limitKey(ctx context.Context, o *operate.Operator, id string, form url.Values) (string, error) {
	var change operate.LimitChange
	for name, to := range map[string]**int{
		"perMinute": &change.PerMinute, "jobs": &change.Jobs, "batchItems": &change.BatchItems,
	} {
		if err := read(form.Get(name), to, strconv.Atoi); err != nil {
			return "", err
		}
	}
	for name, to := range map[string]**int64{"bytes": &change.Bytes, "aiTokens": &change.AITokens} {
		if err := read(form.Get(name), to, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }); err != nil {
			return "", err
		}
	}
	_, err := o.LimitKey(ctx, id, change)
	return "", err
}

// read reads a number; an empty text is none.
func read[T any](text string, to **T, parse func(string) (T, error)) error {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	value, err := parse(text)
	if err != nil {
		return errNumber
	}
	*to = &value
	return nil
}

// form is what the page of an action shows.
type form struct {
	action

	Name    string // of the action
	About   string // what it is about; "" for the service
	Command string
	Typed   url.Values
}

// Value returns what a field shows.
func (f form) Value(of field) string {
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
	found, ok := actions[name]
	about := values.Get("about")
	if !ok || len(about) > maxAbout || strings.ContainsFunc(about, func(r rune) bool { return r < ' ' }) {
		return form{}, errNothing
	}
	command := found.Command
	if strings.Contains(command, "%s") {
		command = fmt.Sprintf(command, about)
	}
	return form{action: found, Name: name, About: about, Command: command, Typed: values}, nil
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
	secret, err := asked.Do(r.Context(), c.options.Operate.As(userOf(r)), asked.About, r.PostForm)
	if why := refusal(err); why != "" {
		return c.render(w, r, http.StatusUnprocessableEntity, "form", shown{Title: asked.Title, Problem: why, Body: asked})
	}
	if err != nil {
		return err
	}
	if secret != "" {
		return c.render(w, r, http.StatusOK, "done", shown{Title: asked.Done, Body: done{secret, Path}})
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
