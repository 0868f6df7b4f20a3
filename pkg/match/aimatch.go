package match

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/vehicle"
)

// errNoAnswer is a Chooser's failure: it could not be asked, or its answer
// was unusable. It is not an answer that nothing fits.
var errNoAnswer = errors.New("match: the chooser gave no answer")

func choiceFailed(err error) bool { return errors.Is(err, errNoAnswer) }

// closeScore is how near the second candidate's score must be to the first
// one's for a single answer not to be believed.
const closeScore = 0.1

// maxListed is the longest text of a listing that a Chooser is told, in
// characters.
const maxListed = 120

// ask has the Chooser select among candidates. Where they are close it is
// asked several times over other orders, because position biases the choice,
// and answers that differ count as None. What it chose stands only if no veto
// speaks against it.
func (m *Matcher) ask(ctx context.Context, q *query, code chassis.Code, possible []ranked) (Choice, error) {
	if len(possible) == 0 {
		return q.chooseClear()
	}
	possible = possible[:min(len(possible), MaxCandidates)]
	runs := 1
	if len(possible) > 1 && possible[0].score-possible[1].score < closeScore {
		runs = m.options.Runs
	}
	var chosen *ranked
	var reason string
	for run := range runs {
		at, answer, err := m.askOnce(ctx, q, code, possible, run)
		if err != nil {
			return Choice{}, err
		}
		if at < 0 {
			message := "no entry of the authority was recognised as the car: " + quoteReason(answer.Reason)
			return Choice{}, q.refuse(NoMatch, message, code, nil)
		}
		if chosen != nil && chosen != &possible[at] {
			return Choice{}, q.refuse(AmbiguousMatch, "asked twice which entry of the authority is the car, the AI chose "+
				chosen.label.Text+" and then "+possible[at].label.Text, code, nil)
		}
		chosen, reason = &possible[at], answer.Reason
	}
	if why := q.veto(code, chosen.label); why != "" {
		return Choice{}, q.refuse(NoMatch, chosen.label.Text+" was chosen, but "+why, code, nil)
	}
	return q.recognised(code, chosen.label, possible, reason), nil
}

// askOnce asks over one order of the candidates. It returns the place of the
// chosen one in possible, or -1 for None.
func (m *Matcher) askOnce(ctx context.Context, q *query, code chassis.Code, possible []ranked, run int) (int, Answer, error) {
	order := q.order(len(possible), run)
	question := Question{Listed: q.listed(code)}
	for i, at := range order {
		label := possible[at].label
		question.Candidates = append(question.Candidates, Option{
			ID: fmt.Sprintf("c%d", i+1), Label: label.Text, EngineCC: label.CC, Fuel: string(label.fuel),
			YearFrom: label.From, YearTo: label.To,
		})
	}
	answer, err := m.options.Chooser.Choose(ctx, question)
	if err != nil {
		return -1, Answer{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if answer.ID == None {
		return -1, answer, nil
	}
	i := slices.IndexFunc(question.Candidates, func(o Option) bool { return o.ID == answer.ID })
	if i < 0 {
		return -1, Answer{Reason: "the answer was not one of the candidates"}, nil
	}
	return order[i], answer, nil
}

// order shuffles n places. It depends on the car and the run alone, so that
// the same question is asked in the same words and its answer can be cached.
func (q *query) order(n, run int) []int {
	sum := fnv.New64a()
	_, _ = fmt.Fprint(sum, q.listed(chassis.Code{}))           // a hash never fails
	shuffle := rand.New(rand.NewPCG(sum.Sum64(), uint64(run))) //nolint:gosec // an order, no secret; run is small
	order := shuffle.Perm(n)
	if run > 0 && n > 1 && slices.Equal(order, q.order(n, run-1)) {
		slices.Reverse(order)
	}
	return order
}

// listed is what the Chooser is told of the listing.
func (q *query) listed(code chassis.Code) Listed {
	return Listed{
		Make: q.entries.Make.Name, Model: cut(q.car.Model), Version: cut(q.car.Version), ModelCode: cut(code.Code),
		Year: q.car.Year, EngineCC: q.car.EngineCC, Fuel: cut(q.car.Fuel), Body: cut(q.car.BodyType),
	}
}

func cut(s string) string {
	if runes := []rune(s); len(runes) > maxListed {
		return string(runes[:maxListed])
	}
	return s
}

// recognised is the choice of a label that the Chooser selected. Where others
// fit as well, the code was substituted, and the answer says so.
func (q *query) recognised(code chassis.Code, label *indexed, possible []ranked, reason string) Choice {
	choice := q.fuzzyChoice(vehicle.LLMFuzzy, label.Label, q.name.relationTo(label.Model))
	choice.Reason = "recognised by an AI: " + quoteReason(reason)
	var others []string
	for _, r := range possible {
		if r.label.Text != label.Text && r.like >= rival && q.fits(code, r.label) {
			others = append(others, r.label.Text)
		}
	}
	a := vehicle.Adjustment{Field: "modelCode", From: code.Raw, To: choice.Code}
	switch {
	case code.Code != "":
		a.Reason = "the authority has no entry for the listing's code, which looks like a misreading of this one"
	case !q.agrees(code, label):
		a.Reason = "the listing gives no chassis code, and engine, fuel and year do not all confirm this one"
	case len(others) > 0:
		a.Reason = fmt.Sprintf("the listing gives no chassis code, and %d other entries fit as well: %s",
			len(others), strings.Join(others, "; "))
	default:
		return choice
	}
	choice.Adjustments = append(choice.Adjustments, a)
	return choice
}

// quoteReason makes one short line of a Chooser's reason, which may repeat
// what strangers wrote.
func quoteReason(reason string) string {
	if reason = strings.Join(strings.Fields(cut(reason)), " "); reason == "" {
		return "no reason was given"
	}
	return reason
}

// misread says whether a code that the authority does not list may be a
// misreading of one: it is no real code that is known.
func (q *query) misread(code chassis.Code) bool {
	return !known(code.Code, q.entries) && !isReal(q.entries.Make, code.Code)
}

// chooseMisread asks the Chooser about a code that looks like that of another
// entry under the same name. It never accepts any other code.
func (m *Matcher) chooseMisread(ctx context.Context, q *query, code chassis.Code) (Choice, error) {
	possible := q.possible(code, func(r ranked) bool {
		how := q.name.relationTo(r.label.Model)
		return (how == same || how == form) && q.agrees(code, r.label) &&
			slices.ContainsFunc(r.label.Codes, func(c string) bool { return looksLike(code.Code, c) })
	})
	if len(possible) > 0 {
		choice, err := m.ask(ctx, q, code, possible)
		if !choiceFailed(err) || ctx.Err() != nil {
			return choice, err
		}
	}
	return q.choose(code)
}
