package rig

import (
	"fmt"
	"strconv"
	"time"
)

// Number is one figure of a benchmark, with what it is compared with and the aim.
type Number struct {
	Name     string
	Measured Value
	Baseline Value // of the same run; the zero value is none
	Aim      Aim
	Reason   string // why it was not measured; "" when it was
}

// Value is a number with its unit, and for a baseline what was measured.
type Value struct {
	N    float64
	Unit string
	Of   string
}

// Aim bounds a number, or its ratio to the baseline. The zero value is no bound.
type Aim struct {
	AtLeast, AtMost float64 // 0 is no bound
	Ratio           bool    // they bound the ratio
}

// Millis is a duration in milliseconds.
func Millis(d time.Duration) Value {
	return Value{N: float64(d) / float64(time.Millisecond), Unit: "ms"}
}

// As returns the value with what was measured.
func (v Value) As(of string) Value {
	v.Of = of
	return v
}

// String has three digits that count.
func (v Value) String() string {
	if v.N == 0 && v.Unit == "" && v.Of != "" {
		return v.Of
	}
	s := digits(v.N) + " " + v.Unit
	if v.Unit == "" {
		s = digits(v.N)
	}
	if v.Of != "" {
		s += ", " + v.Of
	}
	return s
}

// digits has a separator of thousands.
func digits(n float64) string {
	const hundred, ten, thousand = 100, 10, 1000
	switch {
	case n == 0:
		return "0"
	case n >= thousand:
		whole := int64(n + 0.5) //nolint:mnd // to round
		return thousands(whole)
	case n >= hundred:
		return strconv.FormatFloat(n, 'f', 0, 64)
	case n >= ten:
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

func thousands(n int64) string {
	const thousand = 1000
	if n < thousand {
		return strconv.FormatInt(n, 10)
	}
	return thousands(n/thousand) + fmt.Sprintf(",%03d", n%thousand)
}

// Ratio is the number by its baseline; 0 without one.
func (n Number) Ratio() float64 {
	if n.Baseline.N == 0 {
		return 0
	}
	return n.Measured.N / n.Baseline.N
}

// Verdict is whether the aim is met.
func (n Number) Verdict() string {
	value := n.Measured.N
	if n.Aim.Ratio {
		value = n.Ratio()
	}
	switch {
	case n.Reason != "":
		return "not measured: " + n.Reason
	case n.Aim == Aim{}:
		return "–"
	case n.Aim.AtLeast > 0 && value < n.Aim.AtLeast, n.Aim.AtMost > 0 && value > n.Aim.AtMost:
		return "**missed**"
	}
	return "met"
}

// Bound is the aim in words.
func (n Number) Bound() string {
	sign, bound := "≥ ", n.Aim.AtLeast
	if n.Aim.AtMost > 0 {
		sign, bound = "≤ ", n.Aim.AtMost
	}
	switch {
	case n.Aim == Aim{}:
		return "–"
	case n.Aim.Ratio:
		return sign + digits(bound) + " × baseline"
	}
	return sign + Value{N: bound, Unit: n.Measured.Unit}.String()
}
