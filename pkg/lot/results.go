package lot

import (
	"slices"
	"strings"
)

// A table of results begins with these columns and ends ours with the last; the caller's own
// follow. Ours begin with the prefix where an own column has the same name.
var resultColumns = []string{"row", "reference", "url", "state", "code", "reason"}

const (
	lastResult   = "warnings"
	resultPrefix = "ushuru_"
)

// describing are the columns of results that say which car a row was.
var describing = []string{
	"make", "model", "modelCode", "version", "year", "engine_cc", "fuel", "fobPriceUSD", "cfPriceUSD",
}

// resultsEnd returns how many columns of a header are those of results; 0 when the table is
// the caller's own.
func resultsEnd(names []string) int {
	for i, name := range resultColumns {
		if i >= len(names) || strings.TrimPrefix(names[i], resultPrefix) != name {
			return 0
		}
	}
	return 1 + slices.IndexFunc(names, func(name string) bool { return strings.TrimPrefix(name, resultPrefix) == lastResult })
}

// AreResults reports whether the table is one of results.
func (c *Columns) AreResults() bool { return c.results }

// takeResults makes a table of results the list that it came from: its links and references,
// and the cars as the caller's own columns describe them, or as they were read without any.
func (c *Columns) takeResults(names []string) {
	end := resultsEnd(names)
	if end == 0 {
		return
	}
	c.results, c.described = true, slices.ContainsFunc(c.all[end:], func(column Column) bool { return column.Used })
	for i := range c.all[:end] {
		column := &c.all[i]
		name := strings.TrimPrefix(column.Header, resultPrefix)
		column.result = true
		column.Field, column.unit = meaning(name)
		if name != fieldReference && name != fieldURL && (c.described || !slices.Contains(describing, name)) {
			column.Field = ""
		}
		column.Used, column.Unit = isUsed(column.Field), column.unit.String()
	}
}
