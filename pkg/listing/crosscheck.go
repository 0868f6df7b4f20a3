package listing

import (
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/listing/claim"
)

// crossCheck compares the resolved values with each other and discards those that
// are impossible.
func (l *Listing) crossCheck() {
	car := &l.Car
	if total, fob := car.CFPriceUSD, car.FOBPriceUSD; total != nil && fob != nil && !total.Decimal().GreaterThan(fob.Decimal()) {
		car.CFPriceUSD = nil
		l.discard(claim.FieldCF, "total_too_low")
	}
	l.registeredOn(car)
	made, knownMade := claim.ParseDatedYear(car.Manufacture)
	registered, knownRegistered := claim.ParseDatedYear(car.Registration)
	if knownMade && knownRegistered && made > registered {
		car.Manufacture = ""
		l.discard(claim.FieldManufacture, "after_registration")
		l.note("made_after_registration", nil)
		l.warn("manufacture_after_registration",
			values{"manufacture": strconv.Itoa(made), "registration": strconv.Itoa(registered)})
	}
	frame, framed := chassis.FromFrame(car.FrameNumber)
	related := strings.HasPrefix(car.ModelCode, frame.Code) || strings.HasPrefix(frame.Code, car.ModelCode)
	if framed && car.ModelCode != "" && !related {
		named := values{"modelCode": car.ModelCode, "frameNumber": car.FrameNumber}
		l.note("code_and_frame_differ", named)
		l.warn("code_and_frame_differ", named)
	}
}

// discard removes the value of a field and keeps it in Others, with the reason.
func (l *Listing) discard(name, why string) {
	if f := l.field(name); f.Source != "" {
		f.Others = append(f.Others, Other{Value: f.Value, Source: f.Source, Rank: f.Rank}.because(why))
		f.Value, f.Source, f.Rank = "", "", 0
	}
}

// reasonSeveral is the reason not to take any of several prices.
const reasonSeveral = "no_price_chosen"

// rejectConflictingPrices rejects prices of labels that differ, unless a source other than
// the labels decides between them.
func rejectConflictingPrices(claimed []claim.Claim) {
	seen := map[string]bool{}
	for _, c := range claimed {
		if p, ok := amount(c.Value); ok && c.Source == "labels" && c.Rejected == "" {
			seen[p] = true
		}
	}
	if len(seen) < 2 {
		return
	}
	claimedPrice := ""
	for _, c := range claimed {
		if p, ok := amount(c.Value); ok && c.Source != "labels" && c.Rejected == "" && claimedPrice == "" {
			claimedPrice = p
		}
	}
	for i, c := range claimed {
		if p, _ := amount(c.Value); c.Source == "labels" && p != claimedPrice && c.Rejected == "" {
			claimed[i].Rejected = reasonSeveral
		}
	}
}
