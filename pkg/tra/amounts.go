package tra

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// maxAmount is above the price of every car in dollars and in shillings.
var maxAmount = decimal.New(1, 14)

// taxFields returns the fields of a tax by the authority's names, which its JSON has: pointers to
// texts, whole numbers and amounts.
func taxFields(tax *vehicle.Tax) map[string]any {
	all, of := map[string]any{}, reflect.ValueOf(tax).Elem()
	for i := range of.NumField() {
		all[of.Type().Field(i).Tag.Get("json")] = of.Field(i).Addr().Interface()
	}
	return all
}

// empty reports whether the object has the fields of an answer, all of them blank.
func (o object) empty() bool {
	known := false
	for name, field := range taxFields(&vehicle.Tax{}) {
		if _, isAmount := field.(*money.Amount); !isAmount {
			continue
		}
		_, has := o[name]
		known = known || has
		if text, err := o.text(name); err != nil || !blank(text) {
			return false
		}
	}
	return known
}

// amount reads "2,439.00", 2439 or 2439.0e0, and says whether there was one.
func (o object) amount(name string) (money.Amount, bool, error) {
	text, err := o.text(name)
	if err != nil || blank(text) {
		return money.Amount{}, false, err
	}
	amount, err := money.Parse(text)
	if err != nil {
		amount, err = floating(text)
	}
	if err == nil && amount.Decimal().IsNegative() {
		err = errors.New("negative")
	}
	if err == nil && amount.Decimal().GreaterThan(maxAmount) {
		err = errors.New("too large")
	}
	if err != nil {
		return money.Amount{}, false, fmt.Errorf("%s is not an amount: %.40q: %w", name, text, err)
	}
	return amount, true, nil
}

// floating reads the forms in which a program prints a floating point number:
// many decimals, or an exponent.
func floating(text string) (money.Amount, error) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, ",_") {
		return money.Amount{}, money.ErrInvalid
	}
	value, err := money.ParseDecimal(text)
	return money.New(value), err
}
