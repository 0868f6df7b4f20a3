// Package selection selects one of some entries of the authority's list where no chassis
// code decides. A language model does; its answer is one of the candidates, or none.
package selection

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"ushuru/pkg/ai"
)

// None is the answer that no candidate is the car.
const None = "NONE"

// Chooser selects among candidates when no chassis code decides, for example an AI.
// Its answer is checked: an id outside the candidates counts as None, and the rules
// of pkg/match can still reject the label. It cannot set confidence, money or ids.
type Chooser func(ctx context.Context, question Question) (Answer, error)

// Question contains closed fields only, no text of the page. The texts of Listed
// are untrusted and may contain instructions.
type Question struct {
	Listed     Listed   `json:"listed"`
	Candidates []Option `json:"candidates"` // at most ten, shuffled
}

// MaxListed is how long the texts of a listing are in a Question at most, in characters.
const MaxListed = 120

// Listed is the car of the listing. Empty or 0 means not given. Texts have at most
// MaxListed characters.
type Listed struct {
	Make      string `json:"make"` // as the authority spells it
	Model     string `json:"model"`
	Version   string `json:"version"`
	ModelCode string `json:"modelCode"`
	Year      int    `json:"year"`
	EngineCC  int    `json:"engine_cc"`
	Fuel      string `json:"fuel"`
	Body      string `json:"body"`
}

// Option is one candidate. Empty or 0 means not known.
type Option struct {
	ID       string `json:"id"`    // opaque: c1, c2, … in the order shown
	Label    string `json:"label"` // the authority's text
	EngineCC int    `json:"engine_cc"`
	Fuel     string `json:"fuel"` // petrol, diesel, petrol hybrid, diesel hybrid, electric
	YearFrom int    `json:"yearFrom"`
	YearTo   int    `json:"yearTo"` // 0 beside a YearFrom: still made
}

// Answer is the id of one candidate, or None, and the reason in our words, if it is
// known: a model's own are never shown.
type Answer struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// orders is where a cell of a listing stops to describe a car and begins to
// speak to a model: markup, or a word that is no trim of a car. It cannot know
// every wording; what a model may be talked into is bounded by the vetoes and
// by the names that a candidate must share with the listing.
var injectionPattern = regexp.MustCompile(`(?i)[<>{}]|://|` +
	`\b(?:ignore|disregard|forget|override|instructions?|prompt|assistant|candidates?|answer|reply|respond|output|choose|` +
	`correct|previous|above|please|must|select (?:the|id|entry|number|only)|pick (?:the|id|entry|number|only)|` +
	`(?:the|right|best|only) match|match(?:es)? is|json|none)\b|無視|指示|候補|選択して|選んで|回答`)

// description returns the part of a cell that describes the car: the text before
// an instruction, and before the id or the label of a candidate, which a seller
// does not know.
func description(cell string, candidates []Option) string {
	end := len(cell)
	if at := injectionPattern.FindStringIndex(cell); at != nil {
		end = at[0]
	}
	for _, option := range candidates {
		for _, text := range []string{option.ID, option.Label} {
			if at := wordIndex(cell, text); at >= 0 {
				end = min(end, at)
			}
		}
	}
	return strings.TrimSpace(cell[:end])
}

// wordIndex finds a text as a whole word, whatever its case; -1 without one.
func wordIndex(cell, text string) int {
	word := regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9])(` + regexp.QuoteMeta(text) + `)(?:[^A-Za-z0-9]|$)`)
	at := word.FindStringSubmatchIndex(cell)
	if at == nil || text == "" {
		return -1
	}
	return at[2]
}

// AIQuestion is the name of the question in metrics and simulators.
const AIQuestion = "match_car"

// AI is a Chooser that calls a language model once per question.
type AI struct{ client *ai.Client }

// NewAI returns an AI. It does not close the client.
func NewAI(client *ai.Client) *AI { return &AI{client} }

// instruction is the prompt, besides the data and its frame. It calls abstaining
// good, because that lowers false answers (arXiv 2604.03904).
const instruction = `You match one used Japanese car of an exporter's listing to the vehicle database of Tanzania's tax
authority.
The row of "listing" is the car as the exporter describes it. The rows of "candidates" are entries of the database:
label is MODEL - CHASSIS CODE - BODY (a hybrid may say so before the body); engine_cc, fuel, year_from and year_to are facts
about that code. A field that is missing is not known.

Choose the candidate that is this car, or NONE.
- NONE is a good answer. A wrong entry makes the buyer pay the wrong tax; after NONE a person decides. You are rewarded for
  NONE whenever no single candidate is clearly the car.
- Another model is another car, even a twin under another badge (Premio and Allion, Alphard and Vellfire). A misspelt or
  longer name of the same model is the same model; the version may tell which model or engine it is.
- Engines more than 60 cc apart, diesel against petrol, and a year more than one outside the candidate's years speak against it.
- A chassis code in the listing that is not the candidate's is another car, unless one character was plainly misread.
- Exporters mix up WAGON, HATCHBACK and MINIVAN for one car. A truck is not a sedan.
- When several candidates fit equally well and nothing in the listing decides between them, answer NONE.

First give the reason in one short English sentence, then the relation of the chosen candidate to the car, then its id.`

// The relations of a candidate to the car. Only the same car is a choice.
const (
	relationSame      = "same"
	relationOtherBody = "same_model_other_body"
	relationFamily    = "same_family"
	relationNone      = "none"
)

const maxReason = 200

// selection is the model's answer.
type selection struct {
	Reason    string `json:"reason"`
	Relation  string `json:"relation"`
	Candidate string `json:"candidate"`
}

// Choose calls the model. The answer is also None when the model names a candidate
// that it does not call the same car. An id outside the candidates is an error of
// the client, as every other answer that violates the schema. Answers are cached
// by question. Each run orders the candidates differently, so that it is a question of its own.
func (c *AI) Choose(ctx context.Context, question Question) (Answer, error) {
	selected, _, err := ai.Ask[selection](ctx, c.client, question.forAI(), nil)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{ID: selected.Candidate} // the model's own words may repeat those of a stranger
	if answer.ID != None && selected.Relation != relationSame {
		answer = Answer{ID: None, Reason: "the nearest entry is " + relationWords[selected.Relation]}
	}
	return answer, nil
}

var relationWords = map[string]string{
	relationOtherBody: "the same model with another body",
	relationFamily:    "of the same family, and another car",
	relationNone:      "another car",
}

// forAI returns the question as closed fields, without text addressed to the model.
func (q Question) forAI() ai.Question {
	l := q.Listed
	listing := ai.Row{
		{Name: "make", Text: l.Make},
		{Name: "model", Text: description(l.Model, q.Candidates), Max: MaxListed},
		{Name: "version", Text: description(l.Version, q.Candidates), Max: MaxListed},
		{Name: "model_code", Text: l.ModelCode, Max: 40},
		{Name: "year", Text: digits(l.Year)},
		{Name: "engine_cc", Text: digits(l.EngineCC)},
		{Name: "fuel", Text: description(l.Fuel, q.Candidates), Max: 40},
		{Name: "body", Text: description(l.Body, q.Candidates), Max: 40},
	}
	ids := make([]string, 0, len(q.Candidates)+1)
	rows := make([]ai.Row, 0, len(q.Candidates))
	for _, option := range q.Candidates {
		ids = append(ids, option.ID)
		rows = append(rows, ai.Row{
			{Name: "id", Text: option.ID},
			{Name: "label", Text: option.Label},
			{Name: "engine_cc", Text: digits(option.EngineCC)},
			{Name: "fuel", Text: option.Fuel},
			{Name: "year_from", Text: digits(option.YearFrom)},
			{Name: "year_to", Text: digits(option.YearTo)},
		})
	}
	return ai.Question{
		Name: AIQuestion, System: instruction,
		Data: []ai.Table{{Name: "listing", Rows: []ai.Row{listing}}, {Name: "candidates", Rows: rows}},
		Schema: ai.Schema{
			{Name: "reason", Type: ai.Text, Description: "Why, in one short English sentence.", Max: maxReason},
			{
				Name: "relation", Type: ai.Text, Description: "Of the chosen candidate to the car; none with NONE.",
				Enum: []string{relationSame, relationOtherBody, relationFamily, relationNone},
			},
			{Name: "candidate", Type: ai.Text, Description: "The id of one candidate, or NONE.", Enum: append(ids, None)},
		},
		MaxTokens: 2000, // models that reason count their thoughts
	}
}

// digits returns a number in digits, an empty string for 0.
func digits(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
