package cost_test

import (
	"math/rand/v2"
	"testing"

	"ushuru/pkg/cost"
)

// What is paid by bank and what is paid at the port are the whole cost, each of its six numbers; a
// part that is not known makes its payment unknown, and no other.
func TestPaymentsAddUpToTheCost(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(33, 2))
	known := 0
	for range 60 {
		q := randomQuote(r)
		s := cost.Embedded().Calculate(q.estimate, q.terms, q.now).Summary
		if len(s.Pay) != 2 || s.Pay[0].Code != "bank" || s.Pay[1].Code != "port" || s.Pay[1].From != s.Landing.From {
			t.Fatalf("got the payments %+v, want by bank now, and at the port from the landing on", s.Pay)
		}
		if (s.Pay[0].Sum == nil) != (s.CarAndShipping == nil) || (s.Pay[1].Sum == nil) != (s.Taxes == nil || s.PortAndLocal == nil) {
			t.Fatalf("got %s for the summary %s", asText(t, s.Pay), asText(t, s))
		}
		if s.OnTheRoad == nil {
			continue
		}
		known++
		sum := *s.Pay[0].Sum
		for _, n := range []struct {
			into *int64
			add  int64
		}{
			{&sum.TZS, s.Pay[1].Sum.TZS},
			{&sum.LowTZS, s.Pay[1].Sum.LowTZS},
			{&sum.HighTZS, s.Pay[1].Sum.HighTZS},
			{&sum.USD, s.Pay[1].Sum.USD},
			{&sum.LowUSD, s.Pay[1].Sum.LowUSD},
			{&sum.HighUSD, s.Pay[1].Sum.HighUSD},
		} {
			*n.into += n.add
		}
		if sum != *s.OnTheRoad {
			t.Fatalf("got %+v together, want %+v", sum, *s.OnTheRoad)
		}
	}
	if known < 10 {
		t.Errorf("only %d costs were known", known)
	}
}

// A question about freight is worth the range that freight and insurance have; what costs nothing to
// ask is worth nothing that is known.
func TestAQuestionSaysWhatItsAnswerIsWorth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(33, 4))
	worth := map[string]int{}
	for range 60 {
		q := randomQuote(r)
		s := cost.Embedded().Calculate(q.estimate, q.terms, q.now).Summary
		for _, question := range s.Ask {
			if question.WorthTZS == nil {
				continue
			}
			worth[question.Code]++
			if *question.WorthTZS <= 0 || *question.WorthTZS%10_000 != 0 {
				t.Fatalf("%s is worth %d, want a rounded sum", question.Code, *question.WorthTZS)
			}
			if s.OnTheRoad != nil && question.Code == "freight_and_insurance" && *question.WorthTZS > s.OnTheRoad.HighTZS-s.OnTheRoad.LowTZS+20_000 {
				t.Fatalf("freight is worth %d, more than the range %+v", *question.WorthTZS, *s.OnTheRoad)
			}
		}
	}
	if len(worth) != 2 || worth["freight_and_insurance"] == 0 || worth["seat_belt_label"] == 0 {
		t.Errorf("got %v, want what freight and the year are worth", worth)
	}
}
