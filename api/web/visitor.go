package web

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/api/web/visitor"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// Limits of requests that start work. Beyond them a visitor's browser solves a puzzle;
// cached answers count against none.
const (
	perHour        = 10  // of a visitor
	perDay         = 40  // of a visitor
	perHourAI      = 3   // of a visitor, of the work that the AI has a part in
	perNetworkHour = 120 // of a network: carriers share addresses between many people
)

// worksWithAI are the endpoints whose work the AI has a part in.
var worksWithAI = []string{pathCompare, pathReport}

// errPuzzle tells the page to set a puzzle. RetryAfter is when none is needed.
var errPuzzle = problem.Because(http.StatusTooManyRequests, message.New("page/puzzle", nil), nil)

// admit returns what is called before the work of an endpoint starts for a request: it
// counts it, and returns errPuzzle when the visitor, or the network, has started much.
func (p *Pages) admit(r *http.Request, path string) func(context.Context) error {
	return func(ctx context.Context) error {
		secret, err := p.visitors.Secret(ctx)
		if err != nil {
			return err
		}
		solved, err := p.visitors.Solves(ctx, secret, sent(r, "puzzle"), sent(r, "solution"))
		if solved || err != nil {
			return err
		}
		// The network comes first: it bounds what is kept for visitors who are made up.
		network := visitor.Hourly("network", visitor.NetworkOf(p.options.Address(r)), perNetworkHour)
		if err := p.visitors.Within(ctx, errPuzzle, network); err != nil {
			return err
		}
		id, age, known := visitor.Of(r, secret)
		if !known || age < visitor.Youngest {
			return errPuzzle
		}
		windows := []visitor.Window{visitor.Hourly("hour", id, perHour), visitor.Daily("day", id, perDay)}
		if slices.Contains(worksWithAI, path) {
			windows = append(windows, visitor.Hourly("ai", id, perHourAI))
		}
		return p.visitors.Within(ctx, errPuzzle, windows...)
	}
}

// sent returns a field of a form. That of a file has its fields in the address, so that
// they are known before the file has arrived.
func sent(r *http.Request, name string) string {
	return cmp.Or(r.PostForm.Get(name), r.URL.Query().Get(name))
}

// puzzle is the page on which a browser solves a puzzle, and sends the form again.
type puzzle struct {
	Value  string
	Action string
	Fields [][2]string
	// Minutes is after how many minutes the form needs no puzzle, for a browser without
	// JavaScript; 0 means at once.
	Minutes int
}

// puzzleError is the puzzle for a program: the extension for browsers.
type puzzleError struct {
	vehicle.Error

	Puzzle string `json:"puzzle"`
}

// puzzle responds with a puzzle, and with the fields of the form that needs it, which
// needs none after a while. A visitor whose cookie is not valid any more gets one, without
// which a browser without JavaScript would come back here for ever.
func (p *Pages) puzzle(w http.ResponseWriter, r *http.Request, after time.Duration) error {
	if err := p.greet(w, r); err != nil {
		return err
	}
	secret, err := p.visitors.Secret(r.Context())
	if err != nil {
		return err
	}
	body := puzzle{
		Value: visitor.NewPuzzle(secret), Action: r.URL.Path,
		Minutes: int(math.Ceil(after.Minutes())),
	}
	if frame.WantsJSON(r) {
		said := frame.TextOf(errPuzzle.Notice)
		return frame.SendJSON(w, r, errPuzzle.Status, puzzleError{
			Error: vehicle.Error{Code: errPuzzle.Code, Message: said.EN, Text: &said}, Puzzle: body.Value,
		})
	}
	for name, values := range r.PostForm {
		if name != "puzzle" && name != "solution" {
			body.Fields = append(body.Fields, [2]string{name, values[0]})
		}
	}
	// Browsers report other statuses in the console.
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "puzzle", Title: "puzzle.title", Body: body})
}

type admitKey struct{}

// withAdmit lets a request ask before it starts work.
func withAdmit(ctx context.Context, admit func(context.Context) error) context.Context {
	return context.WithValue(ctx, admitKey{}, admit)
}

// Admit is called before work starts for a request of the pages. It returns an error when
// the visitor may not start more.
func Admit(ctx context.Context) error {
	if admit, ok := ctx.Value(admitKey{}).(func(context.Context) error); ok {
		return admit(ctx)
	}
	return nil
}
