package condition

import (
	"slices"
	"strings"
)

// yesLabels are labels that a bare yes affirms, and a bare no denies.
var yesLabels = []string{
	"accident", "crash", "repair history", "repaired", "salvage", "flood", "fire", "theft", "damage", "修復歴", "事故歴", "事故", "ajali",
}

// unknownMileage are values of a mileage row that say nothing: on a used car a doubt.
var unknownMileage = []string{"unknown", "n/a", "?", "0", "not known", "haijulikani", "hazijulikani"}

// meterLabels are labels of the mileage.
var meterLabels = []string{"odometer", "mileage", "走行", "kilomita"}

// ReadRow judges a row of a listing: a label and its value. A bare yes or no answers
// the label; other values speak for themselves.
func ReadRow(label, value string) Judgement {
	label, low := strings.ToLower(label), strings.ToLower(strings.TrimSpace(value))
	isAbout := func(labels []string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(label, l) })
	}
	if isAbout(meterLabels) && slices.Contains(unknownMileage, low) {
		return Judgement{Findings: []Finding{{Meter, Doubt, value}}}
	}
	if isAbout(yesLabels) {
		return Read(label + ": " + value)
	}
	return Read(value)
}
