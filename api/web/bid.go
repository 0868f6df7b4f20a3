package web

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// bid is the form for a car and what the visitor can pay for it on the road.
type bid struct {
	Filled  url.Values   // what the visitor typed, and what is known of the car
	Problem message.Text // why that is no answer; empty for none
	Wrong   string       // the field that is to blame: u or target; "" for none
}

// Value returns what is known of a field.
func (b bid) Value(name string) string { return b.Filled.Get(name) }

// Kept returns what is known of the car, and the terms, as hidden fields.
func (b bid) Kept() [][2]string { return keptOf(b.Filled) }

// bid responds with the form. What the query says of a car fills it.
func (p *Pages) bid(w http.ResponseWriter, r *http.Request) error {
	filled := r.URL.Query()
	filled.Set("u", linkIn(filled.Get("u")))
	return p.Render(w, r, http.StatusOK, bidScreen(bid{Filled: filled}))
}

func bidScreen(body bid) frame.Screen {
	return frame.Screen{Name: "bid", Title: "bid.title", Body: body}
}

// targetPattern is a number of shillings. The API knows its bounds.
var targetPattern = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)

// submitBid starts the estimate that finds the highest price, and leads to its page.
func (p *Pages) submitBid(w http.ResponseWriter, r *http.Request) error {
	if err := frame.ParseForm(w, r); err != nil {
		return err
	}
	again := func(said message.Text, why *problem.Problem) frame.Screen {
		body := bid{Filled: r.PostForm, Problem: said, Wrong: "u"}
		if why == nil || strings.HasPrefix(why.Param, "target") {
			body.Problem, body.Wrong = message.Say("page/bid.bad_target", nil), "target"
		} else if why.Code == "url_missing" {
			body.Problem = message.Say("page/bid.no_link", nil)
		}
		return bidScreen(body)
	}
	if !readSum(r.PostForm, termTarget, "TZS") {
		return p.Render(w, r, http.StatusUnprocessableEntity, again(message.Text{}, nil))
	}
	terms := termsIn(r.PostForm)
	if !targetPattern.MatchString(terms.Get(termTarget)) {
		return p.Render(w, r, http.StatusUnprocessableEntity, again(message.Text{}, nil))
	}
	path, body := pathEstimate, estimateRequest(r.PostForm)
	if r.PostForm.Get("make") != "" {
		path, body = pathQuote, quoteRequest(r.PostForm)
	}
	request, err := plainjson.Encode(body)
	if err != nil {
		return err
	}
	return p.begin(w, r, work{path, request, terms}, again)
}

// maxPrice is the page of the highest price of a car.
type maxPrice struct {
	result

	First, Second priceLimit // First is on the terms of the seller's price
	Asked         int64      // the seller's price in dollars; 0 when there is none
	Whole         form       // gives the whole cost
}

// priceLimit is the highest price on one of two terms: fob or cf.
type priceLimit struct {
	*vehicle.PriceLimits

	Basis string
}

// maxPrice responds with the highest price of a car.
func (p *Pages) maxPrice(w http.ResponseWriter, r *http.Request, found *link) error {
	lang := p.Language(w, r)
	estimate, err := p.resultOf(r, found, lang)
	if err != nil {
		return err
	}
	if estimate.MaxPrice == nil {
		return errors.New("web: an estimate without its highest price")
	}
	view := maxPrice{
		result: estimate, First: priceLimit{Basis: "fob", PriceLimits: estimate.MaxPrice.FOB},
		Second: priceLimit{Basis: "cf", PriceLimits: estimate.MaxPrice.CF},
		Whole:  estimate.Request.withoutTarget(),
	}
	switch car := estimate.Car; {
	case car.FOBPriceUSD != nil:
		view.Asked = car.FOBPriceUSD.Decimal().IntPart()
	case car.CFPriceUSD != nil:
		view.First, view.Second = view.Second, view.First
		view.Asked = car.CFPriceUSD.Decimal().IntPart()
	}
	lines := append([]string{view.headline(lang)}, view.reserve(lang)...)
	if err := view.share(lang, estimateNote.In(lang), lines...); err != nil {
		return err
	}
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "maxprice", Title: view.Name, Body: &view, Preview: view.Preview})
}

// headline returns the car with the highest price and the target in one line.
func (v *maxPrice) headline(lang string) string {
	if v.First.PriceLimits == nil || v.First.Likely == nil {
		return v.Name
	}
	said, err := frame.Say(lang, "bid.headline", "car", v.Name, "price", frame.InDollars(*v.First.Likely),
		"target", v.MaxPrice.TargetTZS)
	if err != nil {
		return v.Name
	}
	return said
}
