package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ushuru/api/web/frame"
	"ushuru/pkg/bill"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// judgeBill returns the verdict on a bill whose car is estimated: the API keeps no bill,
// so it is sent again.
func (p *Pages) judgeBill(ctx context.Context, found *link) (json.RawMessage, error) {
	body, err := found.body()
	if err != nil {
		return nil, err
	}
	got, err := p.api.Do(ctx, http.MethodPost, found.Path, body, http.Header{"Content-Type": {"application/json"}})
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
}

// Message returns what asks the agent for the papers of the questionable lines; "" without any.
func (c *checkedBill) Message() string { return messageForAgent(c.Lines) }

// checkedBill responds with a bill, what is questionable first.
func (p *Pages) checkedBill(w http.ResponseWriter, r *http.Request, found *link) error {
	view := checkedBill{made: p.madeOf(w, r, found)}
	if err := decode(found.Shown.Result, &view.Answer); err != nil {
		return err
	}
	if view.Verdict == "" {
		return errors.New("web: a bill without its verdict")
	}
	car := vehicle.Car{}
	if view.Car != nil {
		car = *view.Car
	}
	slices.SortStableFunc(view.Lines, func(a, b bill.Judged) int { return rankOf(b.Verdict) - rankOf(a.Verdict) })
	p.share(&view.made, "", view.say("bill.headline", "car", frame.NameOf(car), "said", view.Text.In(view.lang)))
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "checkedbill", Body: &view})
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
