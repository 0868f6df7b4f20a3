package match

import (
	"slices"

	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// ExpectedAdjustments returns the adjustments of the choice, and those that
// Resolve would add if the authority listed what the catalogue's facts say.
// An evaluation uses it, because it has no authority to ask.
func (m *Matcher) ExpectedAdjustments(car vehicle.Car, choice Choice) []vehicle.Adjustment {
	label := tra.ParseLabel(choice.Make, choice.Label)
	fact := m.options.Facts.of(label)
	adjusted := slices.Clone(choice.Adjustments)
	if off := fact.yearsOff(car.Year); car.Year != 0 && off > 0 {
		_, years := pickYear(car.Year, slices.DeleteFunc([]int{fact.From, fact.To}, func(year int) bool { return year == 0 }))
		adjusted = append(adjusted, years...)
	}
	if word, known := fuelNames[labelFuel(label, fact)]; known {
		code, _ := chassis.Parse(car.RawModelCode)
		_, fuels, _ := pickFuel(car, code, label, []string{word}) // the choice has already refused what this refuses
		adjusted = append(adjusted, fuels...)
	}
	return adjusted
}
