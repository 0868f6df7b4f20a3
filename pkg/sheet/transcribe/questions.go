package transcribe

import (
	_ "embed" // the instructions
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/ai"
	"ushuru/pkg/datatable"

	"ushuru/pkg/sheet"
)

// The names of the three questions in metrics and simulators.
const (
	ClassifyQuestion      = "sheet_gate"
	ReadQuestion          = "sheet_read"
	SecondReadingQuestion = "sheet_again"
)

// The instructions contain no example of a value: models return examples as facts.
var (
	//go:embed classify.txt
	classifySystem string
	//go:embed look.txt
	secondLook string
	//go:embed read.txt
	readSystem string
	//go:embed secondreading.txt
	secondReadingSystem string
)

// questions are their instructions, and the most tokens of their answers.
var questions = map[string]struct {
	system *string
	tokens int
}{
	ClassifyQuestion:      {&classifySystem, 1200},
	ReadQuestion:          {&readSystem, 9000},
	SecondReadingQuestion: {&secondReadingSystem, 1500},
}

// question returns a question about the images.
func question(name string, pictures []ai.Picture) ai.Question {
	return ai.Question{
		Name: name, System: strings.TrimSpace(*questions[name].system), Schema: Schema(name),
		MaxTokens: questions[name].tokens, Pictures: pictures, Timeout: secondsOfAnswer * time.Second,
	}
}

// schemaTable are the fields of the answers.
//
//go:embed schemas.csv
var schemaTable string

var schemas = func() map[string]ai.Schema {
	all := map[string]ai.Schema{}
	for _, row := range datatable.Lines(schemaTable, 7) {
		schema := all[row[0]]
		add(&schema, strings.Split(row[1], "."), property(row[2:]))
		all[row[0]] = schema
	}
	return all
}()

// Schema is the shape of the answer to a question.
func Schema(question string) ai.Schema { return schemas[question] }

// add adds a property below its parents, each of which is the last of its level.
func add(to *ai.Schema, path []string, p ai.Property) {
	if len(path) > 1 {
		add(&(*to)[len(*to)-1].Fields, path[1:], p)
		return
	}
	p.Name = path[0]
	*to = append(*to, p)
}

// property returns a property by its cells: type, list of values, most characters, most items,
// description. The last value of a list replaces a value that is not on it, and what says that
// nothing is printed a missing one; a strange answer is none.
func property(cells []string) ai.Property {
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	p := ai.Property{
		Type: ai.Type(cells[0]), Enum: values[List(cells[1])], Max: number(cells[2]), MaxItems: number(cells[3]),
		Description: cells[4],
	}
	if len(p.Enum) == 0 {
		return p
	}
	p.Fallback = p.Enum[len(p.Enum)-1]
	if slices.Contains(p.Enum, notSaid) {
		p.Fallback = notSaid
	}
	if p.Type == ai.Text {
		p.Absent = p.Fallback
		if slices.Contains(p.Enum, sheet.NotPrinted) {
			p.Absent = sheet.NotPrinted
		}
	}
	return p
}
