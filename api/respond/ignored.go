package respond

import (
	"net/http"
	"slices"
	"strings"

	"ushuru/api/problem"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// warnFieldIgnored is the code of the warning that names the fields of a request that
// do not exist.
const warnFieldIgnored = "field_ignored"

// maxIgnored is how many fields such a warning names.
const maxIgnored = 20

// Ignore remembers fields of a request that do not exist, for the warning about them.
// With strict=true in the query it returns a problem instead.
func (rec *Recorder) Ignore(r *http.Request, names ...string) error {
	rec.Ignored = append(rec.Ignored, names...)
	if len(names) == 0 || !IsStrict(r) {
		return nil
	}
	refused := problem.New(http.StatusBadRequest, "field_unknown", ignoredValues(names))
	refused.Param = names[0]
	return refused
}

// IsStrict reports whether a request wants to be refused for fields that do not exist.
func IsStrict(r *http.Request) bool { return IsYes(r.URL.Query().Get("strict")) }

// ignoredValues are the values of the text about fields that do not exist.
func ignoredValues(names []string) message.Values {
	if len(names) > maxIgnored {
		names = append(slices.Clone(names[:maxIgnored]), "…")
	}
	return message.Values{"fields": strings.Join(names, ", ")}
}

// IgnoredWarning returns the warning about fields that were ignored; nil when there
// are none.
func IgnoredWarning(names []string) []vehicle.Warning {
	if len(names) == 0 {
		return nil
	}
	return []vehicle.Warning{message.New("warning/"+warnFieldIgnored, ignoredValues(names))}
}

// IsYes reports a parameter that says yes.
func IsYes(text string) bool {
	switch strings.ToLower(text) {
	case "true", "yes", "1", "ndiyo":
		return true
	}
	return false
}
