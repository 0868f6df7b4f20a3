// Package transcribe has a vision model copy an auction sheet: first whether the
// image shows one, then what is printed where, then once more the values that
// matter most. It translates and computes nothing; package interpret does.
package transcribe

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ushuru/pkg/ai"
	"ushuru/pkg/datatable"
	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
)

// Sheet has the model transcribe one sheet. The images are its pages, as JPEG.
//
// Errors are *fetch.Error with the code sheet.NotASheet or
// sheet.SheetUnreadable, which are permanent, and those of package ai, some of
// which are temporary.
func Sheet(ctx context.Context, model *ai.Client, images [][]byte) (*Transcript, error) {
	if len(images) == 0 {
		return nil, errors.New("transcribe: no image to read")
	}
	pages := make([]ai.Picture, len(images))
	for i, image := range images {
		pages[i] = image
	}
	var transcript Transcript
	var err error
	if transcript.Classification, err = classify(ctx, model, pages); err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if transcript.Reading, err = ask[Reading](groupCtx, model, question(ReadQuestion, pages)); err != nil {
			return fmt.Errorf("transcribe: reading the sheet: %w", err)
		}
		return nil
	})
	group.Go(func() (err error) {
		transcript.Second, err = secondReading(groupCtx, model, pages)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return &transcript, nil
}

// classify asks the model what the images show, and asks again before it refuses them, because the
// buyer never learns the faults on a sheet that is refused. Refusals are not cached: the model
// looks again at an image that is sent again.
func classify(ctx context.Context, model *ai.Client, pages []ai.Picture) (c Classification, err error) {
	asked := question(ClassifyQuestion, pages)
	for range 2 {
		if c, err = ask[Classification](ctx, model, asked); err != nil {
			return c, fmt.Errorf("transcribe: classifying the image: %w", err)
		}
		refusal := c.refusal()
		if refusal == nil {
			return c, nil
		}
		err = refusal
		if failure := model.Forget(ctx, asked); failure != nil {
			return c, fmt.Errorf("transcribe: forgetting a refusal: %w", failure)
		}
		asked.System += "\n" + strings.TrimSpace(secondLook)
		asked.Attempt++
	}
	return c, err
}

// secondReading returns nil when the model gives no usable answer: the report is
// then less certain.
func secondReading(ctx context.Context, model *ai.Client, pages []ai.Picture) (*SecondReading, error) {
	second, err := ask[SecondReading](ctx, model, question(SecondReadingQuestion, pages))
	switch {
	case isBadAnswer(err):
		return nil, nil //nolint:nilnil // a report without a second reading is a report
	case err != nil:
		return nil, fmt.Errorf("transcribe: second reading: %w", err)
	}
	return &second, nil
}

// ask puts a question, and repeats it once when the answer is not usable.
func ask[T any](ctx context.Context, model *ai.Client, q ai.Question) (T, error) {
	answer, _, err := ai.Ask[T](ctx, model, q, nil)
	if isBadAnswer(err) {
		q.Attempt++
		answer, _, err = ai.Ask[T](ctx, model, q, nil)
	}
	return answer, err
}

// isBadAnswer reports whether the model answered, and not usably: another try may do.
func isBadAnswer(err error) bool {
	bad, ok := errors.AsType[*ai.Error](err)
	return ok && slices.Contains([]ai.Kind{ai.BadAnswer, ai.Truncated, ai.Refused, ai.NoChoices}, bad.Kind)
}

// minAnchors is how many different labels the model must quote.
const minAnchors = 2

// IsSheet reports whether the image shows an auction sheet: by the model's word,
// and by enough labels that only such forms print.
func (c *Classification) IsSheet() bool {
	return c.IsAuctionSheet && c.Kind == kindSheet && countAnchors(c.Anchors) >= minAnchors
}

// Legibility returns how much of the sheet can be read: nothing of a blank form
// and of a fake.
func (c *Classification) Legibility() sheet.Readability {
	result := sheet.Readability{Overall: sheet.None, UnreadableAreas: []string{}}
	if extents.Has(c.Readability) && c.FilledIn && c.MakesSense {
		result.Overall = sheet.Extent(c.Readability)
	}
	for _, area := range c.UnreadableAreas {
		if areas.Has(area) && !slices.Contains(result.UnreadableAreas, area) {
			result.UnreadableAreas = append(result.UnreadableAreas, area)
		}
	}
	if len(result.UnreadableAreas) > 0 && result.Overall == sheet.Full {
		result.Overall = sheet.Partial
	}
	return result
}

// countAnchors counts the different labels of forms among the quoted texts.
func countAnchors(quoted []string) (n int) {
	for _, names := range anchors {
		if slices.ContainsFunc(quoted, func(q string) bool { return contains(q, names) }) {
			n++
		}
	}
	return n
}

// contains reports whether a quote has one of the names of a label in it.
func contains(quote string, names []string) bool {
	quote = sheet.Fold(quote)
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(quote, sheet.Fold(name)) })
}

func refused(key string) error { return &fetch.Error{Notice: message.New(key, nil)} }

// refusal returns why the sheet is not read; nil when it can be read.
func (c *Classification) refusal() error {
	switch {
	case !c.IsSheet():
		return refused("error/not_a_sheet")
	case !c.FilledIn:
		return refused("error/sheet_unreadable.empty")
	case !c.MakesSense:
		return refused("error/sheet_unreadable.nonsense")
	case c.Legibility().Overall == sheet.None:
		return refused("error/sheet_unreadable")
	}
	return nil
}

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

// OtherValue stands in some lists for a value that is not on the list.
const OtherValue = "other"

// notSaid is the answer where the sheet says nothing.
const notSaid = "not_said"

// kindSheet is the kind of an image that shows an auction sheet.
const kindSheet = "auction_sheet"

// List names a closed list: the only values that the model may give for a
// field, and the only ones that are accepted.
type List string

// The lists that the interpretation checks values against. A list ends with the
// value that replaces a value that is not on it.
const (
	Houses        List = "houses"       // auction houses whose forms or names are known
	OverallGrades List = "overallMarks" // marks beside 評価点
	Letters       List = "letters"      // marks of interior and exterior; of some the tick is part
	Units         List = "units"
	Repairs       List = "repairs"
	Steerings     List = "steerings"
	Channels      List = "channels"
	YesNo         List = "yesNo"
	Meters        List = "meters"      // checklist of the meter history
	GlassWords    List = "glassWords"  // printed checklist of the windscreen
	InsideWords   List = "insideWords" // printed checklist of the interior
	NoteKinds     List = "noteKinds"
	NoteAreas     List = "noteAreas"
	Panels        List = "panels" // parts of the unfolded car

	extents List = "extents"
	areas   List = "areas"
)

// Has reports whether a value is on the list.
func (l List) Has(value string) bool { return slices.Contains(values[l], value) }

//go:embed lists.csv
var listTable string

// values are those of each list.
var values = func() map[List][]string {
	all := map[List][]string{}
	for _, row := range datatable.Lines(listTable, 2) {
		all[List(row[0])] = strings.Split(row[1], "|")
	}
	return all
}()

//go:embed anchors.csv
var anchorTable string

// anchors are labels that the forms print, each with its other names. A quote counts
// that has one of them anywhere: 評価点 4.5, 初度登録年月.
var anchors = func() (all [][]string) {
	for _, row := range datatable.Lines(anchorTable, 1) {
		all = append(all, strings.Split(row[0], "|"))
	}
	return all
}()

// The values of Note.Author, and the limits of the answers.
const (
	SellerPoints    = "seller_points"
	SellerNotes     = "seller_notes"
	InspectorNotes  = "inspector"
	OfficeNotes     = "office"
	MaxNotes        = 80
	MaxMarks        = 80
	MaxNoteJP       = 120
	MaxNoteMeaning  = 240
	MaxEquipment    = 40
	MaxLater        = 12
	MaxValue        = 40 // characters of a printed value
	secondsOfAnswer = 90
)
