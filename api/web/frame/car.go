package frame

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// Followable returns a URL that a browser may follow: http or https.
func Followable(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return raw
}

// NameOf returns make, model and year of a car.
func NameOf(car vehicle.Car) string {
	name := strings.TrimSpace(car.Make + " " + car.Model)
	if car.Year > 0 {
		name += " " + strconv.Itoa(car.Year)
	}
	return strings.TrimSpace(name)
}

// factsOf returns what else is known of a car on one line.
func factsOf(car vehicle.Car, lang string) string {
	facts := []string{car.Version, car.ModelCode}
	if car.EngineCC > 0 {
		facts = append(facts, strconv.Itoa(car.EngineCC)+" cc")
	}
	if car.Fuel != "" {
		facts = append(facts, message.Word(car.Fuel).In(lang))
	}
	if car.MileageKM != nil {
		facts = append(facts, "km "+money.Grouped(strconv.Itoa(*car.MileageKM)))
	}
	return strings.Join(slices.DeleteFunc(facts, func(fact string) bool { return fact == "" }), " · ")
}

// Whole returns a whole number with commas for thousands.
func Whole(n int64) string { return money.Grouped(strconv.FormatInt(n, 10)) }

// InDollars returns a price in whole dollars: it is not rounded, because it is a limit.
func InDollars(price int64) string { return "USD " + Whole(price) }

// FieldsOf returns what is known of a car as the fields of a form.
func FieldsOf(car vehicle.Car) url.Values {
	fields := url.Values{"make": {car.Make}, "fuel": {car.Fuel}}
	for name, value := range map[string]int{"year": car.Year, "cc": car.EngineCC} {
		if value > 0 {
			fields.Set(name, strconv.Itoa(value))
		}
	}
	switch {
	case car.CFPriceUSD != nil:
		fields["price"], fields["basis"] = []string{car.CFPriceUSD.String()}, []string{"cf"}
	case car.FOBPriceUSD != nil:
		fields["price"], fields["basis"] = []string{car.FOBPriceUSD.String()}, []string{"fob"}
	}
	return fields
}
