package cost

import (
	"errors"
	"fmt"

	"github.com/shopspring/decimal"
)

// storage is what a car costs that stays in the port after the free days. All prices
// are in USD for a cubic metre.
type storage struct {
	origin

	FreeDays    int             `json:"free_days"`      // shown, and used
	FreeDaysMax int             `json:"free_days_most"` // by other sources: the lower bound
	PerDay      decimal.Decimal `json:"per_day"`
	Days        int             `json:"days"` // of PerDay
	Later       decimal.Decimal `json:"per_day_later"`
	Removal     decimal.Decimal `json:"removal"` // to another shed, once; not in the lower bound
	VAT         decimal.Decimal `json:"vat"`
}

func (s storage) check() error {
	switch {
	case s.FreeDays < 0 || s.FreeDaysMax < s.FreeDays || s.Days < 0:
		return errors.New("storage: it must be 0 ≤ free_days ≤ free_days_most")
	case s.PerDay.IsNegative() || s.Later.LessThan(s.PerDay) || s.Removal.IsNegative():
		return errors.New("storage: it must be 0 ≤ per_day ≤ per_day_later")
	case !fraction(s.VAT):
		return errors.New("storage: vat must be a fraction; example: 0.18")
	}
	if err := s.origin.check(); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// of returns the storage of a car for some days in the port, in USD.
func (s storage) of(m3 moneyRange, days int) moneyRange {
	usd := func(m3 decimal.Decimal, free int, removal decimal.Decimal) decimal.Decimal {
		over := max(days-free, 0)
		if over == 0 {
			return decimal.Zero
		}
		first := decimal.NewFromInt(int64(min(over, s.Days))).Mul(s.PerDay)
		later := decimal.NewFromInt(int64(max(over-s.Days, 0))).Mul(s.Later)
		return decimal.Sum(first, later, removal).Mul(m3).Mul(decimal.NewFromInt(1).Add(s.VAT))
	}
	return moneyRange{
		usd(m3.low, s.FreeDaysMax, decimal.Zero), usd(m3.amount, s.FreeDays, s.Removal), usd(m3.high, s.FreeDays, s.Removal),
	}
}

// perDay returns the storage of a car for one of the first days after the free ones,
// in USD.
func (s storage) perDay(m3 decimal.Decimal) decimal.Decimal {
	return s.PerDay.Mul(m3).Mul(decimal.NewFromInt(1).Add(s.VAT))
}
