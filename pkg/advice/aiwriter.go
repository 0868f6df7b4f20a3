package advice

import (
	"context"
	"fmt"
	"strings"

	"ushuru/pkg/ai"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// AIQuestion is the name of the question in metrics and simulators.
const AIQuestion = "word_advice"

// Writer has an AI add a paragraph to the advice. The model sees only
// figures and closed words. Its text is checked, and is not used when it contains a
// number that was not given, another winner or a link, or is in the wrong language.
type Writer struct{ client *ai.Client }

// NewWriter returns a Writer. The caller closes the client. With a nil client the
// template alone writes the advice.
func NewWriter(client *ai.Client) *Writer { return &Writer{client} }

// instruction is the system prompt.
const instruction = `You word a comparison of two used cars for a buyer in Tanzania. It is decided already; you decide nothing.
The row of "verdict" names the winner and the reason. The rows of "cars" hold what is known of each car; "for" and
"against" are the only points there are. "language" is the language to write in: en is English, sw is Kiswahili as a Tanzanian
writes it.

- Write two to four plain sentences that tell the buyer what the verdict means for them: the money first, then what to watch.
- Call the cars by their number: "car 1" and "car 2", in Kiswahili "gari 1" and "gari 2".
- Write no number that is not in the data, and write numbers as they stand there. Compute nothing, round nothing.
- Write no headings, lists, links or markup. Praise nothing that the data does not favour.`

// aiText is the answer of the model.
type aiText struct {
	Winner string `json:"winner"`
	Text   string `json:"text"`
}

// The most characters of the model's text, and of a sentence that it is given.
const (
	maxAIText = 900
	maxReason = 1000
)

// none is the winner in the model's words when there is none.
const none = "none"

// Recommend returns the recommendation as Markdown: that of Write, with the text of
// the model after the first paragraph when it passes the checks. byAI reports whether
// it does. A non-nil err says why not, for the log; the recommendation is valid all
// the same.
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
	parts := strings.SplitN(plain, "\n\n", 3) // the heading, the verdict, the rest
	return parts[0] + "\n\n" + parts[1] + "\n\n" + escapeProse(answer.Text) + "\n\n" + parts[2], true, nil
}

// winnerWord returns the winner as the model knows it.
func winnerWord(v vehicle.Verdict) string {
	if v.Winner == nil {
		return none
	}
	return "car" + number(*v.Winner)
}

// newQuestion returns the question to the model: the verdict in closed fields.
func newQuestion(v vehicle.Verdict, p Pair, lang string) ai.Question {
	t := &text{verdict: v, sides: p.sides(), lang: lang}
	verdict := ai.Row{
		{Name: "language", Text: lang},
		{Name: "winner", Text: winnerWord(v)},
		{Name: "reason", Text: v.Text.In(lang), Max: maxReason},
		{Name: "points_car1", Text: number(v.Points1)},
		{Name: "points_car2", Text: number(v.Points2)},
	}
	if v.Cheaper != nil {
		verdict = append(verdict,
			ai.Field{Name: "difference_usd", Text: t.amount("usd", *v.DifferenceUSD)},
			ai.Field{Name: "difference_tzs", Text: t.amount("tzs", *v.DifferenceTZS)})
	}
	cars := make([]ai.Row, 0, 2)
	for i, s := range t.sides {
		r := ai.Row{
			{Name: "car", Text: "car" + number(s.number)},
			{Name: "name", Text: strings.ReplaceAll(s.name(), `\`, "")},
			{Name: "confidence", Text: string(s.estimate.Matched.Confidence)},
		}
		if _, known := s.cost(); known {
			r = append(r,
				ai.Field{Name: "total_usd", Text: t.amount("usd", s.estimate.DriveAway.TotalUSD)},
				ai.Field{Name: "total_tzs", Text: t.amount("tzs", s.estimate.DriveAway.TotalTZS)})
		}
		points := newArguments(s, t.sides[1-i], &t.verdict)
		for n, point := range points.For {
			r = append(r, ai.Field{Name: "for_" + number(n+1), Text: point.In(lang), Max: maxReason})
		}
		for n, point := range points.Against {
			r = append(r, ai.Field{Name: "against_" + number(n+1), Text: point.In(lang), Max: maxReason})
		}
		cars = append(cars, r)
	}
	return ai.Question{
		Name: AIQuestion, System: instruction,
		Data: []ai.Table{{Name: "verdict", Rows: []ai.Row{verdict}}, {Name: "cars", Rows: cars}},
		Schema: ai.Schema{
			{Name: "winner", Type: ai.Text, Description: "The winner as given.", Enum: []string{"car1", "car2", none}},
			{Name: "text", Type: ai.Text, Description: "Two to four sentences in the language.", Max: maxAIText},
		},
		MaxTokens: 2500, // models that reason count their thoughts
	}
}

// amount returns an amount as people say it.
func (t *text) amount(currency string, amount money.Amount) string {
	return t.say("compare/"+currency, message.Values{"amount": amount.Decimal().String()})
}
