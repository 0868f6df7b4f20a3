package vehicle

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

// Terms are what the caller decides about a cost: the exchange rate, the day on
// which the car lands, and figures that the caller knows. The zero value decides
// nothing. They change no more than the calculation, so that estimates of the same
// car share everything else.
type Terms struct {
	Rate    decimal.Decimal // shillings for a dollar, for costs other than tax; 0 is the default
	Landing *LandingDays    // nil is the usual time of a shipment from today
	Costs   *Costs
	// Target is the cost on the road in shillings for which the highest price is
	// searched; nil searches none.
	Target *Target
	// ByMonth adds the cost by the month of landing.
	ByMonth bool
}

// IsZero reports whether the caller decides nothing.
func (t Terms) IsZero() bool {
	return t.Rate.IsZero() && t.Landing == nil && t.Costs == nil && t.Target == nil && !t.ByMonth
}

// Target is what a buyer can pay for a car on the road.
type Target struct {
	OnTheRoadTZS money.Number `json:"onTheRoadTZS"`
}

// LandingDays are the first and the last day on which a car may land, as a caller
// names them: 2027-01-20.
type LandingDays struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Costs are the figures of the caller. They are exact: they stand in place of the
// figures of the tables. A nil field is not known.
type Costs struct {
	FreightUSD    *money.Number `json:"freightUSD,omitempty"`
	InsuranceUSD  *money.Number `json:"insuranceUSD,omitempty"` // marine
	InspectionUSD *money.Number `json:"inspectionUSD,omitempty"`
	BankUSD       *money.Number `json:"bankUSD,omitempty"`   // fee of the transfer to the seller
	AgentTZS      *money.Number `json:"agentTZS,omitempty"`  // clearing agent
	PortTZS       *money.Number `json:"portTZS,omitempty"`   // all charges of the port and the shipping line
	InlandTZS     *money.Number `json:"inlandTZS,omitempty"` // delivery from the port to the buyer
	OtherTZS      *money.Number `json:"otherTZS,omitempty"`
	ShippingM3    *money.Number `json:"shippingM3,omitempty"`
	DaysInPort    *int          `json:"daysInPort,omitempty"` // from the day of landing

	// False leaves the line out, because the buyer does not pay it or has paid it.
	Inspection *bool `json:"inspection,omitempty"`
	Insurance  *bool `json:"insurance,omitempty"` // marine
	Clearing   *bool `json:"clearing,omitempty"`
	Plates     *bool `json:"plates,omitempty"`
	// True adds the line, which takes the place of third-party insurance.
	Comprehensive *bool `json:"comprehensive,omitempty"`
}

// MaxPrice is the highest price at which a car costs no more on the road than a
// target. A field is null when a cost that belongs to it is not known.
type MaxPrice struct {
	TargetTZS int64        `json:"targetTZS"`
	FOB       *PriceLimits `json:"fob"` // price without freight
	CF        *PriceLimits `json:"cf"`  // price with freight to Dar es Salaam
}

// PriceLimits are prices in whole dollars. One is null when even a car for one dollar
// costs more than the target.
type PriceLimits struct {
	Low    *int64 `json:"low"`    // even the highest cost meets the target
	Likely *int64 `json:"likely"` // the likely cost meets it
	High   *int64 `json:"high"`   // the lowest cost meets it: no car at more can
}
