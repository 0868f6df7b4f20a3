package listing

import (
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/chassis"
)

// Bounds of what a used car can be. What lies outside is a slip of the page or
// of the reader.
const (
	firstYear  = 1950
	maxMileage = 2_000_000
)

var mostDollars = decimal.NewFromInt(3_000_000)

// lastYear is that of models that are sold before their year begins.
func lastYear() int { return time.Now().Year() + 1 }

func (p price) plausible() bool {
	return p.currency != "USD" || !p.amount.Decimal().GreaterThan(mostDollars)
}

// weigh holds the settled values against each other and drops those that
// cannot be.
func (l *Listing) weigh() {
	car := &l.Car
	if total, fob := car.CFPriceUSD, car.FOBPriceUSD; total != nil && fob != nil && !total.Decimal().GreaterThan(fob.Decimal()) {
		car.CFPriceUSD = nil
		l.drop(fieldCF, "not above the price without freight, so no destination was chosen")
	}
	made, knownMade := readYear(car.Manufacture)
	registered, knownRegistered := readYear(car.Registration)
	if knownMade && knownRegistered && made > registered {
		car.Manufacture = ""
		l.drop(fieldManufacture, "later than the registration")
		l.notef("The listing dates the manufacture after the first registration.")
	}
	frame, framed := chassis.FromFrame(car.FrameNumber)
	related := strings.HasPrefix(car.ModelCode, frame.Code) || strings.HasPrefix(frame.Code, car.ModelCode)
	if framed && car.ModelCode != "" && !related {
		l.notef("The chassis code %s and the frame number %s are of different cars.", car.ModelCode, car.FrameNumber)
	}
}

// drop takes back the value of a field and keeps it beside, with the reason.
func (l *Listing) drop(name, why string) {
	for i := range l.Fields {
		if f := &l.Fields[i]; f.Name == name && f.Source != "" {
			f.Others = append(f.Others, Other{Value: f.Value, Source: f.Source, Rank: f.Rank, Reason: why})
			f.Value, f.Source, f.Rank = "", "", 0
		}
	}
}

// rejectUnsure rejects prices of labels that differ, unless a source beside
// the labels tells which one it is.
func rejectUnsure(claimed []claim) {
	seen := map[string]bool{}
	for _, c := range claimed {
		if p, ok := amount(c.value); ok && c.rank == RankLabel && c.rejected == "" {
			seen[p] = true
		}
	}
	if len(seen) < 2 {
		return
	}
	told := ""
	for _, c := range claimed {
		if p, ok := amount(c.value); ok && c.rank != RankLabel && c.rejected == "" && told == "" {
			told = p
		}
	}
	for i, c := range claimed {
		if p, _ := amount(c.value); c.rank == RankLabel && p != told && c.rejected == "" {
			claimed[i].rejected = "the page gives several prices"
		}
	}
}
