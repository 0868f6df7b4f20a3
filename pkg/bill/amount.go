package bill

import (
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"ushuru/pkg/money"
)

var (
	// figure is an amount as people write it: 450,000, 450 000, 450.000, 115.50, 1.2m.
	figure = regexp.MustCompile(`\d{1,3}(?:[ ,.']\d{3})+(?:[.,]\d{1,2})?\b|\d+(?:[.,]\d{1,3})?`)
	scale  = regexp.MustCompile(`(?i)^\s*(k|m|mil|million|milioni|elfu|laki)\b`)
	laki   = regexp.MustCompile(`(?i)\b(laki|milioni|elfu)\s+([a-z]+|\d+(?:\.\d+)?)(\s+(?:na|and)\s+nusu)?`)
	dollar = regexp.MustCompile(`(?i)\busd\b|\$|\bus dollars?\b|\bdola\b`)

	swahili = map[string]int64{
		"moja": 1, "mbili": 2, "tatu": 3, "nne": 4, "tano": 5, "sita": 6, "saba": 7, "nane": 8, "tisa": 9, "kumi": 10,
	}
	units = map[string]decimal.Decimal{
		"k": decimal.New(1, 3), "elfu": decimal.New(1, 3), "laki": decimal.New(1, 5),
		"m": decimal.New(1, 6), "mil": decimal.New(1, 6), "million": decimal.New(1, 6), "milioni": decimal.New(1, 6),
	}
)

// maxAmount is more than any bill.
var maxAmount = decimal.New(1, 12)

// amountIn returns the last amount of a text, what stands before it, and whether it is in
// dollars; false without one that can be read.
func amountIn(text string) (amount decimal.Decimal, before string, inUSD, ok bool) {
	inUSD = dollar.MatchString(text)
	if at := laki.FindStringIndex(text); at != nil {
		if sum, known := inWords(text[at[0]:]); known {
			return sum, text[:at[0]], inUSD, plausible(sum)
		}
	}
	all := figure.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return amount, text, inUSD, false
	}
	last := all[len(all)-1]
	amount, err := money.ParseDecimal(plain(text[last[0]:last[1]], inUSD))
	if err != nil {
		return amount, text, inUSD, false
	}
	if unit := scale.FindStringSubmatch(text[last[1]:]); unit != nil {
		amount = amount.Mul(units[strings.ToLower(unit[1])])
	}
	return amount, text[:last[0]], inUSD, plausible(amount)
}

func plausible(amount decimal.Decimal) bool { return amount.IsPositive() && amount.LessThan(maxAmount) }

// inWords returns a sum such as "laki 4 na nusu" or "milioni moja na laki mbili".
func inWords(text string) (sum decimal.Decimal, known bool) {
	for _, part := range laki.FindAllStringSubmatch(text, -1) {
		number, isWord := swahili[strings.ToLower(part[2])]
		count := decimal.NewFromInt(number)
		if !isWord {
			var err error
			if count, err = money.ParseDecimal(part[2]); err != nil {
				return sum, false
			}
		}
		if part[3] != "" {
			count = count.Add(decimal.New(5, -1))
		}
		sum, known = sum.Add(count.Mul(units[strings.ToLower(part[1])])), true
	}
	return sum, known
}

var groups = regexp.MustCompile(`^\d{1,3}([ ,.'])\d{3}`)

// plain returns an amount without what separates thousands, and with a point before cents.
// Three digits after one point are thousands in shillings, which have no such fraction.
func plain(text string, inUSD bool) string {
	if group := groups.FindStringSubmatch(text); group != nil && (!inUSD || group[1] != "." || strings.Count(text, ".") > 1) {
		text = strings.ReplaceAll(text, group[1], "")
	}
	return strings.ReplaceAll(text, ",", ".")
}
