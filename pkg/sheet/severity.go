package sheet

import "slices"

// severities are in ascending order.
var severities = []Severity{NotKnown, Info, Low, Medium, High}

// Rank orders severities: a higher rank is graver. An invalid Severity ranks as
// NotKnown.
func (s Severity) Rank() int { return max(slices.Index(severities, s), 0) }

// Next returns the severity one step graver; High stays High.
func (s Severity) Next() Severity { return severities[min(s.Rank()+1, len(severities)-1)] }

// Graver returns the graver of two severities.
func Graver(a, b Severity) Severity { return severities[max(a.Rank(), b.Rank())] }
