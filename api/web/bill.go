package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/bill"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
)

// billForm is the form for a clearing agent's bill.
type billForm struct {
	Filled  url.Values   // what the visitor typed, and what is known of the car
	Problem message.Text // why that is no answer; empty for none
	Wrong   string       // the field that is to blame: u or text; "" for none
}

// Value returns what is known of a field.
func (b billForm) Value(name string) string { return b.Filled.Get(name) }

// bill responds with the form. What the query says of a car fills it.
func (p *Pages) bill(w http.ResponseWriter, r *http.Request) error {
	filled := r.URL.Query()
	filled.Set("u", linkIn(filled.Get("u")))
	return p.Render(w, r, http.StatusOK, billScreen(billForm{Filled: filled}))
}

func billScreen(body billForm) frame.Screen {
	return frame.Screen{Name: "bill", Title: "bill.title", Body: body}
}

// submitBill starts the estimate of the car that the bill is of, and leads to its page.
func (p *Pages) submitBill(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	link := typedLink(r.PostForm, "u")
	body := map[string]any{"text": strings.ReplaceAll(r.PostForm.Get("text"), "\r", ""), "lang": p.Language(w, r)}
	if link != "" {
		body["url"] = link
	}
	request, err := plainjson.Encode(body)
	if err != nil {
		return err
	}
	return p.begin(w, r, work{path: pathBill, body: request}, func(said message.Text, why *problem.Problem) frame.Screen {
		again := billForm{Filled: r.PostForm, Problem: said, Wrong: "u"}
		if why != nil && strings.HasPrefix(why.Code, "bill_") {
			again.Wrong = "text"
		}
		return billScreen(again)
	})
}

// judgeBill returns the verdict on a bill whose car is estimated: the API keeps no bill,
// so it is sent again.
func (p *Pages) judgeBill(ctx context.Context, found *link) (json.RawMessage, error) {
	got, err := p.api.Do(ctx, http.MethodPost, found.Path, found.Body, http.Header{"Content-Type": {"application/json"}})
	switch {
	case err != nil:
		return nil, err
	case got.Status != http.StatusOK:
		return nil, errUnknown // the estimate is no longer kept
	}
	return got.Bytes(), nil
}

// checkedBill is the page of a bill.
type checkedBill struct {
	made
	bill.Answer

	Name    string // of the car; "" without one
	Message string // for the agent
}

// checkedBill responds with a bill, what is questionable first.
func (p *Pages) checkedBill(w http.ResponseWriter, r *http.Request, found *link) error {
	var view checkedBill
	if err := json.Unmarshal(found.Shown.Result, &view.Answer); err != nil {
		return fmt.Errorf("web: bill: %w", err)
	}
	if view.Verdict == "" {
		return errors.New("web: a bill without its verdict")
	}
	var err error
	if view.made, err = p.madeOf(r, found); err != nil {
		return err
	}
	if view.Car != nil {
		view.Name = frame.NameOf(*view.Car)
	}
	slices.SortStableFunc(view.Lines, func(a, b bill.Judged) int { return rankOf(b.Verdict) - rankOf(a.Verdict) })
	view.Message = messageForAgent(view.Lines)
	lang := p.Language(w, r)
	headline, err := frame.Say(lang, "bill.headline", "car", view.Name, "said", view.Text.In(lang))
	if err != nil {
		return err
	}
	if err := view.share(lang, "", headline); err != nil {
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "checkedbill", Title: "bill.title", Body: &view})
}

// rankOf orders the verdicts of lines: a higher rank is more questionable.
func rankOf(verdict string) int {
	return slices.Index([]string{
		bill.Within, bill.OwnPrice, bill.Unknown, bill.Ambiguous, bill.Below, bill.NotOwed, bill.Duplicate, bill.Above,
	}, verdict)
}

// messageForAgent asks for the papers of the questionable lines; "" without any.
func messageForAgent(lines []bill.Judged) string {
	var said strings.Builder
	said.WriteString(message.Say("page/bill.message", nil).EN)
	count := 0
	for _, l := range lines {
		if l.AmountTZS != "" && rankOf(l.Verdict) >= rankOf(bill.Unknown) {
			count++
			_, _ = fmt.Fprintf(&said, "\n%d. %s: TZS %s", count, l.Name, strings.TrimSuffix(l.AmountTZS, ".00"))
		}
	}
	if count == 0 {
		return ""
	}
	return said.String()
}
