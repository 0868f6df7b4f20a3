package web

import (
	"errors"
	"net/http"

	"ushuru/api/web/frame"
	"ushuru/pkg/vehicle"
)

// maxPrice is the page of the highest price of a car.
type maxPrice struct {
	*result

	First, Second priceLimit // First is on the terms of the seller's price
	Asked         int64      // the seller's price in dollars; 0 when there is none
}

// priceLimit is the highest price on one of two terms: fob or cf.
type priceLimit struct {
	*vehicle.PriceLimits

	Basis string
}

// Whole returns the form of the estimate alone, which gives the whole cost.
func (v *maxPrice) Whole() form {
	f := v.Request
	if f.Action = "/go"; f.Fields.Has("make") {
		f.Action = "/hand"
	}
	return f
}

// maxPrice responds with the highest price of a car.
func (p *Pages) maxPrice(w http.ResponseWriter, r *http.Request, found *link) error {
	estimate, err := p.resultOf(w, r, found)
	if err != nil {
		return err
	}
	if estimate.MaxPrice == nil {
		return errors.New("web: an estimate without its highest price")
	}
	view := maxPrice{
		result: estimate, First: priceLimit{estimate.MaxPrice.FOB, "fob"}, Second: priceLimit{estimate.MaxPrice.CF, "cf"},
	}
	switch car := estimate.Car; {
	case car.FOBPriceUSD != nil:
		view.Asked = car.FOBPriceUSD.Decimal().IntPart()
	case car.CFPriceUSD != nil:
		view.First, view.Second = view.Second, view.First
		view.Asked = car.CFPriceUSD.Decimal().IntPart()
	}
	preview := p.share(&view.made, view.say(estimateNote), append([]string{view.limit()}, view.reserve()...)...)
	return p.Render(w, r, http.StatusOK, frame.Screen{Name: "maxprice", Body: &view, Preview: preview})
}

// limit returns the car with the highest price and the target in one line.
func (v *maxPrice) limit() string {
	if v.First.PriceLimits == nil || v.First.Likely == nil {
		return v.Name()
	}
	return v.say("bid.headline", "car", v.Name(), "price", frame.InDollars(*v.First.Likely), "target", v.MaxPrice.TargetTZS)
}
