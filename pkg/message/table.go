package message

import (
	_ "embed" // for texts.csv
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// textTable has a text on each line: key, level of a warning, English, Swahili, and
// whether the Swahili is a draft. A name in braces stands for a value, with the
// form in which people read it: {total:tzs}.
//
//go:embed texts.csv
var textTable string

// detail ends the key of the detail of another text.
const detail = ":detail"

type row struct {
	level, en, sw string
	draft         bool
	inEN, inSW    [][]int // where the placeholders begin and end
}

var table = func() map[string]row {
	rows, err := parse(textTable)
	if err != nil {
		panic(err) // embedded: only a broken build gets here
	}
	return rows
}()

var placeholder = regexp.MustCompile(`\{([a-zA-Z0-9]+)(?::([a-z]+))?\}`)

// parse reads a table. A key without both texts, or with texts of different values,
// is an error.
func parse(data string) (map[string]row, error) {
	lines, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("message: texts: %w", err)
	}
	rows := make(map[string]row, len(lines))
	var problems []error
	for i, line := range lines[1:] {
		key, r := line[0], row{
			line[1], line[2], line[3], line[4] == "draft",
			placeholder.FindAllStringIndex(line[2], -1), placeholder.FindAllStringIndex(line[3], -1),
		}
		if err := r.check(); err != nil {
			problems = append(problems, fmt.Errorf("message: %q: %w", key, err))
		}
		if i > 0 && key <= lines[i][0] {
			problems = append(problems, fmt.Errorf("message: %q is not in order of the keys", key))
		}
		rows[key] = r
	}
	return rows, errors.Join(problems...)
}

func (r row) check() error {
	switch {
	case r.en == "" || r.sw == "":
		return errors.New("both languages need a text")
	case !slices.Equal(placeholders(r.en), placeholders(r.sw)):
		return errors.New("the texts have different values")
	case !slices.Contains([]string{"", Info, Caution, Danger}, r.level):
		return fmt.Errorf("unknown level %q", r.level)
	}
	for _, p := range placeholder.FindAllStringSubmatch(r.en, -1) {
		if !slices.Contains(forms, p[2]) {
			return fmt.Errorf("unknown form %q", p[2])
		}
	}
	return nil
}

// placeholders returns the different placeholders of a text, in order of their names.
func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}
