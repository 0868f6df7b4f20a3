package console

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Format says how a list or a record is printed.
type Format struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Table prints rows under a header whose names are separated by tabs. Cells are made safe
// to print; an empty one is a dash.
func Table(s Streams, header string, rows [][]string) error {
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, header)
	for _, row := range rows {
		for i := range row {
			row[i] = cmp.Or(Printable(row[i]), "-")
		}
		_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// List prints entries as a Table, or as a JSON array.
func List[T any](s Streams, f Format, entries []T, header string, cells func(T) []string) error {
	if f.JSON {
		return WriteJSON(s.Out, append([]T{}, entries...))
	}
	rows := make([][]string, 0, len(entries))
	for _, entry := range entries {
		rows = append(rows, cells(entry))
	}
	return Table(s, header, rows)
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

// Time returns a time as it is printed; "" for the zero time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
