package advice

import (
	"context"
	"fmt"
	"strings"

	"ushuru/pkg/ai"
	"ushuru/pkg/vehicle"
)

// Writer has an AI write the first paragraph of the advice. The model sees only
// figures and closed words. Its text is checked, and is not used when it contains a
// number that was not given, another winner or a link, or is in the wrong language.
type Writer struct{ client *ai.Client }

// NewWriter returns a Writer. The caller closes the client. With a nil client the
// template alone writes the advice.
func NewWriter(client *ai.Client) *Writer { return &Writer{client} }

// instruction is the system prompt.
const instruction = `You word a comparison of two used cars for a buyer in Tanzania. It is decided already; you decide nothing.
The row of "verdict" names the winner. The rows of "cars" hold what is known of each car; "for" and "against" are the only
points there are. "language" is the language to write in: en is English, sw is Kiswahili as a Tanzanian writes it.

- Write two to four plain sentences that tell the buyer what the verdict means for him: the money first, then what to watch.
- Call the cars by their number: "car 1" and "car 2", in Kiswahili "gari 1" and "gari 2".
- Write no number that is not in the data, and write numbers as they stand there. Compute nothing, round nothing.
- Write no headings, lists, links or markup. Praise nothing that the data does not recommending.`

// aiText is the answer of the model.
type aiText struct {
	Winner string `json:"winner"`
	Text   string `json:"text"`
}

const maxAIText = 900

// Recommend returns the recommendation as Markdown: that of Write, with the text of
// the model in front when it passes the checks. byAI reports whether it does. A
// non-nil err says why not, for the log; the recommendation is valid all the same.
func (w *Writer) Recommend(ctx context.Context, v vehicle.Verdict, p Pair, lang string) (markdown string, byAI bool, err error) {
	plain := Write(v, p, lang)
	if w == nil || w.client == nil {
		return plain, false, nil
	}
	check := func(answer *aiText) error { return checkText(answer, v, p, lang) }
	answer, _, err := ai.Ask(ctx, w.client, newQuestion(v, p, lang), check)
	if err != nil {
		return plain, false, fmt.Errorf("advice: %w", err)
	}
	heading, rest, _ := strings.Cut(plain, "\n")
	return heading + "\n\n" + escapeProse(answer.Text) + "\n" + rest, true, nil
}

// newQuestion returns the question to the model: the verdict in closed fields.
func newQuestion(v vehicle.Verdict, p Pair, lang string) ai.Question {
	t := newText(v, p, lang)
	verdict := ai.Row{
		{Name: "language", Text: lang},
		{Name: "winner", Text: v.Winner},
		{Name: "why_none", Text: v.Why},
		{Name: "score_car1", Text: number(v.Score1)},
		{Name: "score_car2", Text: number(v.Score2)},
		{Name: "cheaper", Text: v.Cheaper},
		{Name: "difference_usd", Text: dollars(v.DifferenceUSD)},
		{Name: "difference_tzs", Text: tzs(v.DifferenceTZS)},
	}
	cars := make([]ai.Row, 0, 2)
	for i, s := range t.sides {
		r := ai.Row{
			{Name: "car", Text: "car" + number(i+1)},
			{Name: "name", Text: strings.ReplaceAll(s.name(), `\`, "")},
			{Name: "confidence", Text: string(s.estimate.Matched.Confidence)},
		}
		if total, known := s.cost(); known {
			r = append(r,
				ai.Field{Name: "total_usd", Text: dollars(&s.estimate.DriveAway.TotalUSD)},
				ai.Field{Name: "total_tzs", Text: shillings(total, true)})
		}
		with := figures(s, t.sides[1-i])
		for n, code := range t.points(i) {
			side := "for"
			if strings.HasPrefix(code, "-") {
				side = "against"
			}
			r = append(r, ai.Field{
				Name: side + "_" + number(n+1), Text: strings.ReplaceAll(t.say(code, with), `\`, ""), Max: 400,
			})
		}
		cars = append(cars, r)
	}
	return ai.Question{
		Name: "word_advice", System: instruction,
		Data: []ai.Table{{Name: "verdict", Rows: []ai.Row{verdict}}, {Name: "cars", Rows: cars}},
		Schema: ai.Schema{
			{Name: "winner", Type: ai.Text, Description: "The winner as given.", Enum: []string{Car1, Car2, None}},
			{Name: "text", Type: ai.Text, Description: "Two to four sentences in the language.", Max: maxAIText},
		},
		MaxTokens: 2500, // models that reason count their thoughts
	}
}
