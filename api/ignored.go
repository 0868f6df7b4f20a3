package api

import (
	"slices"
	"strings"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// warnFieldIgnored is the code of the warning that names the fields of a request that
// do not exist.
const warnFieldIgnored = "field_ignored"

// maxIgnored is how many fields such a warning names.
const maxIgnored = 20

// ignoredWarning returns the warning about fields that were ignored; nil when there
// are none.
func ignoredWarning(names []string) []vehicle.Warning {
	if len(names) == 0 {
		return nil
	}
	if len(names) > maxIgnored {
		names = append(slices.Clone(names[:maxIgnored]), "…")
	}
	return []vehicle.Warning{message.New("warning/"+warnFieldIgnored, message.Values{"fields": strings.Join(names, ", ")})}
}
