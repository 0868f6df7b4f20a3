package listing

import (
	"fmt"

	"ushuru/pkg/vehicle"
)

// The levels of warnings.
const (
	levelInfo    = "info"
	levelCaution = "caution"
	levelDanger  = "danger"
)

// values are the values of a warning, by name.
type values map[string]string

// warnf adds a doubt about a field that decides money. A code occurs once.
func (l *Listing) warnf(code, level string, named values, format string, args ...any) {
	for _, w := range l.Warnings {
		if w.Code == code {
			return
		}
	}
	l.Warnings = append(l.Warnings, vehicle.Warning{
		Code: code, Level: level, Values: named, Message: fmt.Sprintf(format, args...),
	})
}
