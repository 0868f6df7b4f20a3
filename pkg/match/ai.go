package match

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/selection"
	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

// errNoAnswer marks the failure of a Chooser: it was not available, or its
// answer was unusable. It is different from the answer None.
var errNoAnswer = errors.New("match: the chooser gave no answer")

func isNoAnswer(err error) bool { return errors.Is(err, errNoAnswer) }

// agreeing is how many answers of the Chooser must agree where there are several candidates.
const agreeing = 2

// ask lets the Chooser select among candidates. The Chooser is called several times, each time
// with another order of the candidates, because position biases its choice and the text of the
// listing may say "take first". ask refuses answers that differ. The vetoes apply to the chosen
// candidate as to any other.
func (m *Matcher) ask(ctx context.Context, q *query, code chassis.Code, possible []ranked) (Choice, error) {
	if len(possible) == 0 {
		return q.chooseUnique()
	}
	possible = possible[:min(len(possible), MaxCandidates)]
	runs := min(agreeing, len(possible))
	var chosen *ranked
	for run := range runs {
		at, answer, err := m.chooseOnce(ctx, q, code, possible, run, runs > 1)
		if err != nil {
			return Choice{}, err
		}
		if at < 0 {
			why, key := answer.Reason, "no_match.ai"
			if why == "" {
				key = "no_match.ai_silent"
			}
			return Choice{}, q.refuse(key, values{"why": why}, code, nil)
		}
		if chosen != nil && chosen != &possible[at] {
			return Choice{}, q.refuse("ambiguous_match.ai",
				values{"first": chosen.label.Text, "second": possible[at].label.Text}, code, nil)
		}
		chosen = &possible[at]
	}
	if why := q.veto(code, chosen.label); why != (message.Text{}) {
		with := values{"entry": chosen.label.Text}
		return Choice{}, q.refuse("no_match.veto", with, code, nil).whole("no_match.veto", "why", with, why)
	}
	return q.aiChoice(code, chosen.label, possible), nil
}

// chooseOnce asks over one order of the candidates. It returns the place of the
// chosen one in possible, or -1 for None. The version is free text of a stranger: it
// is left out when no other order confirms the answer.
func (m *Matcher) chooseOnce(
	ctx context.Context, q *query, code chassis.Code, possible []ranked, run int, confirmed bool,
) (int, selection.Answer, error) {
	order := q.order(len(possible), run)
	question := selection.Question{Listed: q.listed(code)}
	if !confirmed {
		question.Listed.Version = ""
	}
	for i, at := range order {
		label := possible[at].label
		question.Candidates = append(question.Candidates, selection.Option{
			ID: fmt.Sprintf("c%d", i+1), Label: label.Text, EngineCC: label.CC, Fuel: string(label.fuel),
			YearFrom: label.From, YearTo: label.To,
		})
	}
	answer, err := m.options.Chooser(ctx, question)
	if err != nil {
		return -1, selection.Answer{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if answer.ID == selection.None {
		return -1, answer, nil
	}
	i := slices.IndexFunc(question.Candidates, func(o selection.Option) bool { return o.ID == answer.ID })
	if i < 0 {
		return -1, selection.Answer{Reason: "the answer was not one of the candidates"}, nil
	}
	return order[i], answer, nil
}

// order returns a shuffled order of n candidates. It depends only on the car and
// the run, so equal questions have equal texts and their answers can be cached.
func (q *query) order(n, run int) []int {
	sum := fnv.New64a()
	_, _ = fmt.Fprint(sum, q.listed(chassis.Code{}))           // a hash never fails
	shuffle := rand.New(rand.NewPCG(sum.Sum64(), uint64(run))) //nolint:gosec // an order, no secret; run is small
	order := shuffle.Perm(n)
	if run > 0 && n > 1 && order[0] == q.order(n, run-1)[0] {
		slices.Reverse(order) // no entry stands first twice in a row
	}
	return order
}

// listed returns the listing's fields of a Question.
func (q *query) listed(code chassis.Code) selection.Listed {
	return selection.Listed{
		Make: q.entries.Make.Name, Model: truncate(q.car.Model), Version: truncate(q.car.Version), ModelCode: truncate(code.Code),
		Year: q.car.Year, EngineCC: q.car.EngineCC, Fuel: truncate(q.car.Fuel), Body: truncate(q.car.BodyType),
	}
}

func truncate(s string) string {
	if runes := []rune(s); len(runes) > selection.MaxListed {
		return string(runes[:selection.MaxListed])
	}
	return s
}

// aiChoice returns the choice of a label that the Chooser selected. When other
// labels fit as well, the code is an adjustment.
func (q *query) aiChoice(code chassis.Code, label *indexed, possible []ranked) Choice {
	choice := q.fuzzyChoice(vehicle.ByAI, label.Label, q.name.relationTo(label.Model))
	reason := "match/ai"
	if code.Code != "" {
		reason = "match/ai.code"
	}
	choice = choice.because(message.New(reason, q.values("code", code.Code, "count", strconv.Itoa(len(possible)))))
	var others []string
	for _, r := range possible {
		if r.label.Text != label.Text && r.similarity >= rivalSimilarity && q.fits(code, r.label) {
			others = append(others, r.label.Text)
		}
	}
	key := "code_new"
	switch {
	case code.Code != "":
		key = "code_misread"
	case !q.agrees(code, label):
		key = "code_unconfirmed"
	case len(others) > 0:
		key = "code_others"
	}
	with := q.values("count", strconv.Itoa(len(others)), "entries", strings.Join(others, "; "))
	choice.Adjustments = append(choice.Adjustments, vehicle.Adjusted("modelCode", code.Raw, choice.Code, key, with))
	return choice
}

// isMisreading reports whether a code may be a misreading of another one: the
// authority does not list it, and it is not a known code of the make.
func (q *query) isMisreading(code chassis.Code) bool {
	return !isListed(code.Code, q.entries) && !facts.IsCode(q.entries.Make, code.Code)
}

// chooseMisread calls the Chooser for a code that looks like that of another
// entry under the same name. It never accepts another code.
func (m *Matcher) chooseMisread(ctx context.Context, q *query, code chassis.Code) (Choice, error) {
	possible := q.possible(code, func(r ranked) bool {
		how := q.name.relationTo(r.label.Model)
		return (how == same || how == form) && q.agrees(code, r.label) &&
			slices.ContainsFunc(r.label.Codes, func(c string) bool { return isLookalike(code.Code, c) })
	})
	if len(possible) > 0 {
		choice, err := m.ask(ctx, q, code, possible)
		if isNoAnswer(err) && ctx.Err() == nil {
			err = q.unavailable(code, err)
		}
		return choice, err
	}
	return q.choose(code)
}
