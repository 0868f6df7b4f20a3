package console

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Format says how a list or a record is printed.
type Format struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// List prints entries as a table with a header, or as a JSON array. Cells are made safe
// to print.
func List[T any](s Streams, f Format, entries []T, header string, cells func(T) []string) error {
	if f.JSON {
		return WriteJSON(s.Out, append([]T{}, entries...))
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, strings.Join(strings.Split(header, ","), "\t"))
	for _, entry := range entries {
		row := cells(entry)
		for i := range row {
			row[i] = Dash(Printable(row[i]))
		}
		_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// Field is one line of a record.
type Field struct{ Name, Value string }

// Show prints a record as lines of names and values, or as JSON. Empty values are left
// out.
func Show(s Streams, f Format, record any, fields []Field) error {
	if f.JSON {
		return WriteJSON(s.Out, record)
	}
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, field := range fields {
		if value := Printable(field.Value); value != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", field.Name, value)
		}
	}
	return table.Flush()
}

// Dash returns a text, or a dash for an empty one.
func Dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// Time returns a time as it is printed; "" for the zero time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
