package frame

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
)

const (
	// MaxForm bounds a form without a file, in bytes.
	MaxForm = 16 << 10
	// replyTime is for the response after a file has arrived.
	replyTime = time.Minute
)

// ErrForm is the response to a form that cannot be read.
var ErrForm = problem.Because(http.StatusBadRequest, message.New("page/home.bad_value", nil), nil)

// ErrBusy is the response while too many visitors send something, until it is worth
// another try.
func ErrBusy(after time.Duration) *problem.Problem {
	return problem.Because(http.StatusServiceUnavailable, message.New("page/busy", nil), nil).After(after)
}

// StatusOf returns the status of the page that says a problem of the API.
func StatusOf(why *problem.Problem) int {
	if why.Status == http.StatusBadRequest {
		return http.StatusUnprocessableEntity
	}
	return why.Status
}

// ParseForm reads a form.
func ParseForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, MaxForm)
	if err := r.ParseForm(); err != nil {
		return ErrForm.WithCause(err)
	}
	return nil
}

// Bound bounds a form with a file: it must arrive within a time and a number of bytes. The
// server's own bounds are for small requests.
func Bound(w http.ResponseWriter, r *http.Request, within time.Duration, most int64) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(within)) // a connection without deadlines needs none
	_ = control.SetWriteDeadline(time.Now().Add(within + replyTime))
	r.Body = http.MaxBytesReader(w, r.Body, most)
}

// WantsJSON reports whether a program asks, not a browser.
func WantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

// SendJSON responds to a program.
func SendJSON(w http.ResponseWriter, status int, body any) error {
	data, err := plainjson.Encode(body)
	if err == nil {
		Send(w, status, "application/json", data)
	}
	return err
}

// Without returns the fields of a form that have a value, but for some.
func Without(fields url.Values, names ...string) url.Values {
	rest := url.Values{}
	for name := range fields {
		if value := fields.Get(name); value != "" && !slices.Contains(names, name) {
			rest.Set(name, value)
		}
	}
	return rest
}

// Address returns an address with those of some fields in its query that have a value.
func Address(path string, fields url.Values) string {
	if fields = Without(fields); len(fields) > 0 {
		path += "?" + fields.Encode()
	}
	return path
}

// Sum returns the number of a sum as people say it; false for what is no sum in a currency.
func Sum(typed, currency string) (number string, ok bool) {
	said, err := money.ParseSaid(typed)
	if err != nil || said.Currency != "" && said.Currency != currency {
		return "", false
	}
	return said.Value.String(), true
}
