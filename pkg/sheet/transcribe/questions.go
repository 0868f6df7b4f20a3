package transcribe

import (
	_ "embed" // the instructions
	"slices"
	"strings"
	"time"

	"ushuru/pkg/ai"

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

// question returns a question about the images.
func question(name, system string, schema ai.Schema, tokens int, pictures []ai.Picture) ai.Question {
	return ai.Question{
		Name: name, System: strings.TrimSpace(system), Schema: schema, MaxTokens: tokens, Pictures: pictures,
		Timeout: secondsOfAnswer * time.Second,
	}
}

func classifyQuestion(pictures []ai.Picture) ai.Question {
	return question(ClassifyQuestion, classifySystem, ClassificationSchema(), classifyTokens, pictures)
}

func readQuestion(pictures []ai.Picture) ai.Question {
	return question(ReadQuestion, readSystem, ReadingSchema(), readTokens, pictures)
}

func secondReadingQuestion(pictures []ai.Picture) ai.Question {
	return question(SecondReadingQuestion, secondReadingSystem, SecondReadingSchema(), secondReadingTokens, pictures)
}

// text describes a printed value of at most maxLength characters.
func text(name, description string, maxLength int) ai.Property {
	return ai.Property{Name: name, Type: ai.Text, Description: description, Max: maxLength}
}

// value describes a short printed value.
func value(name, description string) ai.Property { return text(name, description, MaxValue) }

// oneOf describes a value of a closed list. The last value of the list replaces a
// value that is not on it.
func oneOf(name, description string, list List) ai.Property {
	allowed := values[list]
	p := ai.Property{
		Name: name, Type: ai.Text, Description: description, Enum: allowed, Fallback: allowed[len(allowed)-1],
	}
	if list == saidAnswers {
		p.Fallback = notSaid // a strange answer is none
	}
	p.Absent = p.Fallback
	for _, nothing := range []string{sheet.NotPrinted, notSaid} {
		if slices.Contains(allowed, nothing) {
			p.Absent = nothing // a missing value is not said
		}
	}
	return p
}

// object describes a block of values.
func object(name string, fields ...ai.Property) ai.Property {
	return ai.Property{Name: name, Type: ai.Object, Fields: fields}
}

// list describes a list of at most maxItems objects.
func list(name, description string, most int, fields ...ai.Property) ai.Property {
	return ai.Property{Name: name, Type: ai.List, Description: description, MaxItems: most, Fields: fields}
}

// ClassificationSchema is the shape of a Classification.
func ClassificationSchema() ai.Schema {
	return ai.Schema{
		{Name: "anchors", Type: ai.List, Max: 40, MaxItems: 80, Description: "Japanese labels that are printed on it, quoted"},
		oneOf("kind", "what the picture shows", kinds),
		{Name: "is_auction_sheet", Type: ai.Boolean, Description: "it is a Japanese auction sheet of one car"},
		{Name: "filled_in", Type: ai.Boolean, Description: "the form holds the data of a car"},
		{Name: "makes_sense", Type: ai.Boolean, Description: "its text is real Japanese and does not contradict itself"},
		oneOf("readability", "how much of it can be read", extents),
		{
			Name: "unreadable_areas", Type: ai.List, MaxItems: len(values[areas]) * 2,
			Description: "areas covered, cut off or too blurred",
			Enum:        values[areas], Fallback: OtherValue,
		},
	}
}

// SecondReadingSchema is the shape of a SecondReading.
func SecondReadingSchema() ai.Schema {
	return ai.Schema{
		{
			Name: "mileage_boxes", Type: ai.List, Max: len(sheet.NotReadable), MaxItems: maxDigits,
			Description: "走行: the digit of each box",
		},
		oneOf("unit", "the unit that is printed or circled: km, or mile for マイル", Units),
		oneOf("flag", "the sign beside the mileage", flags),
		oneOf("overall", "評価点: the mark beside it", OverallGrades),
		oneOf("exterior", "外装: the letter of the grade, not the colour", Letters),
		oneOf("interior", "内装, 内装補助評価: the letter of the grade; with an apostrophe where a tick follows", Letters),
		oneOf("repair_history", "修復歴: the circled or written word", Repairs),
		value("colour", "外装色: its exact characters, with an arrow where it was changed"),
		value("first_registration", "初度登録: its exact characters with the letter of the era"),
	}
}
