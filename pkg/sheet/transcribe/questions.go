package transcribe

import (
	"slices"
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
const (
	classifySystem = `You sort pictures. Say what the pictures show.
An auction sheet (出品票, 検査票, 状態説明書) is a Japanese form about one used car, with printed Japanese labels.
First quote the labels that you can really see, exactly as printed. A photograph of a car, a screen, an icon, an
invoice or a certificate is no auction sheet. A form without the data of a car is not filled in. A form whose
characters are nonsense, or that gives two different mileages for one car, makes no sense.
Say which areas are covered, cut off or too blurred to be read.`

	secondLook = `
Look at the whole picture once more, also where it is turned, dark or small, before you answer.`

	readSystem = `You copy a Japanese car auction sheet. Copy what is printed or written, and nothing else.
Find each value by its Japanese label, wherever that stands; never by its place on the page.
Where nothing is printed for a label, give an empty text (in a closed list: not_printed).
Where something is printed that you cannot read for certain, give: unreadable. Never guess, never complete, never
correct, never calculate, never convert dates or units. A wrong value does harm; a missing one does not.
Copy the characters of the sheet: dates with the letter of their era as they stand, digits one by one.
The overall grade is only what stands beside 評価点; the name of a trim is no grade.
Never copy the number plate (登録番号) or the name, address or telephone number of anyone.
Of printed lists only what is circled or ticked counts.
For "said", answer only from what is written, circled or marked on the sheet: yes for a statement or a suspicion, no only
where the sheet denies it in words, otherwise not_said. Copy the quote character by character.`

	secondReadingSystem = `You check single values of a Japanese car auction sheet, slowly, character by character.
Look at each place again. Give the digit of every box of the mileage (走行) one by one from left to right, an empty
text for a box without a digit. Give other values exactly as they are written. Where a character cannot be read for
certain, give unreadable for that value. Never guess, and never calculate.`
)

// question returns a question about the images.
func question(name, system string, schema ai.Schema, tokens int, pictures []ai.Picture) ai.Question {
	return ai.Question{
		Name: name, System: system, Schema: schema, MaxTokens: tokens, Pictures: pictures,
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
