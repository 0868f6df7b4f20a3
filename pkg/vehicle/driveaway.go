package vehicle

import (
	"github.com/shopspring/decimal"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
)

// DriveAway is what the buyer pays in all until the car is on the road in Dar
// es Salaam. Additive. Every amount is the line's exact figure rounded once to
// the cent; a total is the sum of its printed lines.
type DriveAway struct {
	Lines    []CostLine   `json:"lines"` // never null
	TotalUSD money.Amount `json:"totalUSD"`
	TotalTZS money.Amount `json:"totalTZS"`
	// The least and the most it may come to, where lines are ranges.
	LowUSD  money.Amount `json:"lowUSD"`
	HighUSD money.Amount `json:"highUSD"`
	LowTZS  money.Amount `json:"lowTZS"`
	HighTZS money.Amount `json:"highTZS"`
	// Complete is false when something that has to be paid is not among the
	// lines: a car whose listing gives no price, for example. Missing says what.
	Complete bool      `json:"complete"`
	Missing  []Missing `json:"missing,omitempty"`

	// Scenarios are the cost by each answer to each open question; all lie between the low
	// and the high. Assumes says what the headline assumes about the dearest of them.
	Scenarios []Scenario `json:"scenarios,omitempty"`
	Assumes   *Sentence  `json:"assumes,omitempty"`

	TaxBase  TaxBase       `json:"taxBase"`
	AgeStep  *AgeStep      `json:"ageStep,omitempty"`
	Exchange ExchangeRates `json:"exchange"`
	Landing  Landing       `json:"landing"`
	AsOf     string        `json:"asOf"` // the day in Dar es Salaam whose rates and fees these are: 2026-11-21
}

// Scenario is the cost by one answer to an open question.
type Scenario struct {
	Question string       `json:"question"` // year, tax_base, law, freight or landing
	Code     string       `json:"code"`     // the answer: own_year, listed_year …
	Text     Sentence     `json:"text"`     // what it assumes
	Settle   Text         `json:"settle"`   // what would settle the question, and what that is worth
	TotalUSD money.Amount `json:"totalUSD"`
	TotalTZS money.Amount `json:"totalTZS"`
	Likely   bool         `json:"likely"` // the headline assumes it
}

// CostLine is one thing to pay.
type CostLine struct {
	Code      string       `json:"code"` // stable: car_price, freight, import_taxes, wharfage …
	Name      Text         `json:"name"`
	Basis     string       `json:"basis"` // how the amount comes about
	AmountUSD money.Amount `json:"amountUSD"`
	AmountTZS money.Amount `json:"amountTZS"`
	LowUSD    money.Amount `json:"lowUSD"` // equal to AmountUSD when the line is no range
	HighUSD   money.Amount `json:"highUSD"`
	LowTZS    money.Amount `json:"lowTZS"`
	HighTZS   money.Amount `json:"highTZS"`
	Standing  Standing     `json:"standing"`
	Estimated bool         `json:"estimated"`        // ours, by a table or a formula, not a figure that was quoted for this car
	PaidIn    string       `json:"paidIn,omitempty"` // TZS for what is paid inside Tanzania
	Source    string       `json:"source"`
	Date      string       `json:"date"` // of the source: 2026-01, or of the answer

	BasisText  *Text          `json:"basisText,omitempty"`  // Basis in both languages
	BasisParts []message.Part `json:"basisParts,omitempty"` // Basis as codes and values
	SourceText *Text          `json:"sourceText,omitempty"` // Source in both languages, where it is no citation
}

// Standing says whose figure a line is.
type Standing string

// The standings.
const (
	Official Standing = "official" // the authority's, or a statute's
	Quoted   Standing = "quoted"   // the seller's, for this car
	Typical  Standing = "typical"  // what others have paid
	Caller   Standing = "caller"   // the caller's own figure
)

// Text is a text in the languages of the service.
type Text = message.Text

// Sentence is a text with its code and values.
type Sentence = message.Sentence

// Missing is something to pay whose amount is not known.
type Missing struct {
	Code   string `json:"code"`
	Name   Text   `json:"name"`
	Reason string `json:"reason"`

	ReasonCode string         `json:"reasonCode,omitempty"`
	Text       *Text          `json:"text,omitempty"`   // Reason in both languages
	Values     message.Values `json:"values,omitempty"` // the values in Reason, by name
}

// TaxBase says on which value the tax is computed: the authority taxes the
// higher of its own CIF and the invoice's (reported practice, no official text
// is known).
type TaxBase struct {
	Basis        string       `json:"basis"`             // a Basis… constant
	CIFInUSD     money.Amount `json:"cifInUSD"`          // the value used here: the higher of the two
	AuthorityCIF money.Amount `json:"authorityCifInUSD"` // the authority's own
	// InvoiceCIF is the listing's; null when it gives no price, or our tables
	// hold no freight or insurance for the day. Where these come from our
	// tables, it may be from low to high.
	InvoiceCIF     *money.Amount `json:"invoiceCifInUSD"`
	InvoiceCIFLow  *money.Amount `json:"invoiceCifLowInUSD"`
	InvoiceCIFHigh *money.Amount `json:"invoiceCifHighInUSD"`
	Estimated      bool          `json:"estimated"`            // InvoiceCIF holds freight or insurance by our table
	Recomputed     *Recomputed   `json:"recomputed,omitempty"` // the tax at CIFInUSD, where that is above the authority's
	// Explanation is one short sentence. The reasons are in the summary: taxes.why.
	Explanation Sentence `json:"explanation"`
}

// The bases of the tax.
const (
	BasisAuthority = "authority_cif"
	BasisInvoice   = "invoice_cif"
	BasisUndecided = "undecided" // the invoice's CIF is not known, or the authority's lies in its range
)

// AgeStep is a rise of the excise by age on a 1 January between the day of the
// calculation and the last landing day; nil when the landing cannot touch one. Both
// amounts are all taxes and fees (import taxes, HIV
// levy, registration) at the value the drive-away cost uses.
type AgeStep struct {
	On          string       `json:"on"`          // the day of the step in Dar es Salaam: 2027-01-01
	Age         int          `json:"age"`         // years, until then
	PercentNow  money.Number `json:"percentNow"`  // excise by age, as the authority charges it now
	PercentNext money.Number `json:"percentNext"` // from the step on, by the dated rules; the higher where they are disputed
	NowUSD      money.Amount `json:"nowUSD"`
	NowTZS      money.Amount `json:"nowTZS"`
	NextUSD     money.Amount `json:"nextUSD"`
	NextTZS     money.Amount `json:"nextTZS"`
	Disputed    bool         `json:"disputed"` // the sources disagree, or no source confirms the rule
	Note        Sentence     `json:"note"`
}

// Recomputed is the tax at another value than the authority's own, by the
// rates of its answer. It is the service's computation, not the authority's.
type Recomputed struct {
	ImportDutyInUSD          money.Amount `json:"importDutyInUSD"`
	ExciseDutyInUSD          money.Amount `json:"exciseDutyInUSD"`
	ExciseDutyDueToAgeInUSD  money.Amount `json:"exciseDutyDueToAgeInUSD"`
	VATInUSD                 money.Amount `json:"vatInUSD"`
	CustomProcessingFeeInUSD money.Amount `json:"customProcessingFeeInUSD"`
	RailwayDevLevyInUSD      money.Amount `json:"railwayDevLevyInUSD"`
	TotalImportTaxesInUSD    money.Amount `json:"totalImportTaxesInUSD"`
	TotalImportTaxesInTZS    money.Amount `json:"totalImportTaxesInTZS"`
	TotalTaxesInTZS          money.Amount `json:"totalTaxesInTZS"`
}

// Computed returns the taxes of the authority's answer as those that the service computes.
func (t Tax) Computed() Recomputed {
	return Recomputed{
		ImportDutyInUSD: t.ImportDutyInUSD, ExciseDutyInUSD: t.ExiseDutyInUSD, ExciseDutyDueToAgeInUSD: t.ExiseDutyDueToAgeInUSD,
		VATInUSD: t.VATInUSD, CustomProcessingFeeInUSD: t.CustomProcessingFeeInUSD, RailwayDevLevyInUSD: t.RailwayDevLevyInUSD,
		TotalImportTaxesInUSD: t.TotalImportTaxesInUSD, TotalImportTaxesInTZS: t.TotalImportTaxesInTZS,
		TotalTaxesInTZS: t.TotalTaxesInTZS,
	}
}

// ExchangeRates are shillings for a dollar: the authority's own, derived from
// its totals, for taxes, and the market's for the rest.
type ExchangeRates struct {
	Taxes  money.Number `json:"taxes"`  // 2565.98
	Others money.Number `json:"others"` // the caller's rate, or 2650
}

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
