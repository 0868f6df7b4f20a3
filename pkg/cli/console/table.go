package console

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"

	"ushuru/pkg/table"
)

// Format says how a list or a record is printed: as text unless the caller wants another form.
type Format struct {
	Output string `short:"o" enum:"text,json,csv" default:"text" help:"Form of the output: text, json or csv."`
	Short  bool   `name:"json" help:"The same as -o json."`
}

// JSON reports whether JSON is wanted, and CSV whether CSV is.
func (f Format) JSON() bool { return f.Short || f.Output == "json" }

// CSV reports whether CSV is wanted.
func (f Format) CSV() bool { return !f.Short && f.Output == "csv" }

// Answer says how an answer with many members is printed: as JSON unless the caller wants
// another form.
type Answer struct {
	Output string `short:"o" enum:"text,json,csv" default:"json" help:"Form of the output: text, json or csv."`
	Table  bool   `xor:"output" help:"The same as -o text."`
}

// Text reports whether text for a person is wanted.
func (a Answer) Text() bool { return a.Table || a.Output == "text" }

// CSV reports whether CSV is wanted.
func (a Answer) CSV() bool { return !a.Table && a.Output == "csv" }

// Print prints a value in the wanted form: JSON, or the paths of its members with their values.
func (a Answer) Print(s Streams, value any) error {
	if !a.Text() && !a.CSV() {
		return WriteJSON(s.Out, value)
	}
	members, err := membersOf(value)
	if err != nil {
		return err
	}
	if a.CSV() {
		return writeCSV(s, "member\tvalue", members)
	}
	return Table(s, "MEMBER\tVALUE", members)
}

// membersOf returns the members of a value as JSON writes it, each with its path:
// "driveAway.lines.0.code".
func membersOf(value any) (rows [][]string, err error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	var add func(path string, value any)
	add = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				add(strings.TrimPrefix(path+"."+name, "."), v[name])
			}
		case []any:
			for i, one := range v {
				add(strings.TrimPrefix(path+"."+strconv.Itoa(i), "."), one)
			}
		case nil:
		default:
			rows = append(rows, []string{path, fmt.Sprint(v)})
		}
	}
	add("", decoded)
	return rows, nil
}

// writeCSV writes rows under the names of a header, which are separated by tabs. A cell that a
// spreadsheet would compute is quoted for it.
func writeCSV(s Streams, header string, rows [][]string) error {
	w := csv.NewWriter(s.Out)
	_ = w.Write(strings.Split(strings.ToLower(header), "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = table.Safe(Printable(cell))
		}
		_ = w.Write(cells) // its error stays until Error
	}
	w.Flush()
	return w.Error()
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

// Execute writes a text of templates, or nothing when that fails. Cells that tabs separate are
// aligned; flags are those of a tabwriter.
func Execute(w io.Writer, texts *template.Template, name string, data any, flags uint) error {
	var text strings.Builder
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', flags)
	if err := texts.ExecuteTemplate(aligned, name, data); err != nil {
		return err
	}
	_ = aligned.Flush() // a strings.Builder takes everything
	_, err := io.WriteString(w, text.String())
	return err
}

// Printed prints what a command has got.
type Printed func(Streams, Format) error

// Listed returns what prints entries under a header whose names are separated by tabs: as a Table,
// or as a JSON array.
func Listed[T any](header string, cells func(T) []any) func([]T) Printed {
	return func(entries []T) Printed {
		return func(s Streams, f Format) error {
			if f.JSON() {
				return WriteJSON(s.Out, append([]T{}, entries...))
			}
			rows := make([][]string, 0, len(entries))
			for _, entry := range entries {
				rows = append(rows, textsOf(cells(entry)))
			}
			if f.CSV() {
				return writeCSV(s, header, rows)
			}
			return Table(s, header, rows)
		}
	}
}

// Record prints one thing: as JSON a value, else lines of a name and what it has, which come in
// pairs. What is empty is left out.
func Record(value any, pairs ...any) Printed {
	return func(s Streams, f Format) error {
		if f.JSON() {
			return WriteJSON(s.Out, value)
		}
		var rows [][]string
		for pair := range slices.Chunk(textsOf(pairs), 2) { //nolint:mnd // of a pair
			if text := Printable(pair[1]); text != "" {
				rows = append(rows, []string{pair[0], text})
			}
		}
		if f.CSV() {
			return writeCSV(s, "name\tvalue", rows)
		}
		table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		for _, row := range rows {
			_, _ = fmt.Fprintln(table, strings.Join(row, "\t"))
		}
		return table.Flush()
	}
}

// Said prints what a command did: as a sentence, or in another form as a record.
func Said(record any, sentence string, values ...any) Printed {
	return func(s Streams, f Format) error {
		switch {
		case f.JSON():
			return WriteJSON(s.Out, record)
		case f.CSV():
			return Answer{Output: "csv"}.Print(s, record)
		}
		_, err := fmt.Fprintf(s.Out, sentence+"\n", values...)
		return err
	}
}

// As returns what prints a result, unless there is an error instead.
func As[T any](show func(T) Printed) func(T, error) (Printed, error) {
	return func(result T, err error) (Printed, error) {
		if err != nil {
			return nil, err
		}
		return show(result), nil
	}
}

// After returns what an action prints unless it failed.
func After(success Printed, err error) (Printed, error) {
	if err != nil {
		return nil, err
	}
	return success, nil
}

// textsOf returns values as they are printed.
func textsOf(values []any) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = Text(value)
	}
	return texts
}

// Text returns a value as it is printed.
func Text(value any) string {
	switch value := value.(type) {
	case time.Time:
		return Time(value)
	case *time.Time:
		if value == nil {
			return ""
		}
		return Time(*value)
	}
	return fmt.Sprint(value)
}

// Time returns a time as it is printed; "" for the zero time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
