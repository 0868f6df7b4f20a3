package evaluate

import (
	"fmt"
	"math"
)

// Share is a count out of a number of cases.
type Share struct{ Of, Cases int }

func (s *Share) count(holds bool) {
	s.Cases++
	if holds {
		s.Of++
	}
}

// Wilson returns the 95 % Wilson score interval of the share, 0 to 1 without
// cases.
func (s *Share) Wilson() (low, high float64) {
	if s.Cases == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(s.Cases), float64(s.Of)/float64(s.Cases)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(middle-half, 0), min(middle+half, 1)
}

// String is "34/35  97.1 % [85.5 99.5]".
func (s *Share) String() string {
	if s.Cases == 0 {
		return "-"
	}
	low, high := s.Wilson()
	return fmt.Sprintf("%d/%d %5.1f %% [%.1f %.1f]", s.Of, s.Cases, 100*float64(s.Of)/float64(s.Cases), 100*low, 100*high)
}
