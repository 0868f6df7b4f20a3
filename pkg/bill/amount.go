package bill

import (
	"regexp"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

var dollar = regexp.MustCompile(`(?i)\busd\b|\$|\bus dollars?\b|\bdola\b`)

// amountIn returns the last amount of a text, what stands before it, and whether it is in
// dollars; false without one that can be read.
func amountIn(text string) (amount decimal.Decimal, before string, inUSD, ok bool) {
	said, at, _, ok := money.LastSaid(text)
	return said.Value, text[:at], dollar.MatchString(text), ok
}
