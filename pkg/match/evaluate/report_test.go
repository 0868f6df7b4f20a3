package evaluate

import (
	"math"
	"strings"
	"testing"

	"ushuru/pkg/match"
	"ushuru/pkg/vehicle"
)

func TestWilsonIntervals(t *testing.T) {
	for _, c := range []struct {
		share     Share
		low, high float64
	}{
		{Share{0, 0}, 0, 1},
		{Share{210, 210}, 0.982, 1}, // as counted in the reference on matching
		{Share{430, 430}, 0.991, 1},
		{Share{0, 64}, 0, 0.057},
		{Share{5, 10}, 0.237, 0.763},
	} {
		if low, high := c.share.Wilson(); math.Abs(low-c.low) > 0.0006 || math.Abs(high-c.high) > 0.0006 {
			t.Errorf("%v: %.4f to %.4f, want %.3f to %.3f", c.share, low, high, c.low, c.high)
		}
	}
}

func TestReportCountsByExpectation(t *testing.T) {
	gold := []Gold{{"TOYOTA", "A - B1C - SEDAN"}}
	accepted := func(label string, confidence vehicle.Confidence) Result {
		return Result{Outcome: "match", Make: "TOYOTA", ModelBody: label, Confidence: confidence}
	}
	shown := Result{Outcome: "none", Candidates: []match.Scored{{Make: "TOYOTA", ModelBody: "A - B1C - SEDAN", Score: 0.5}}}
	for _, c := range []struct {
		expect string
		gold   []Gold
		found  Result
		want   string
	}{
		{"match", gold, accepted("A - B1C - SEDAN", vehicle.High), "correct"},
		{"match", gold, accepted("X - Y1Z - SEDAN", vehicle.Low), "wrong"},
		{"match", gold, shown, "abstained"},
		{"fuzzy", gold, shown, "correct"},
		{"fuzzy", gold, Result{Outcome: "none"}, "abstained"},
		{"fuzzy", gold, accepted("A - B1C - SEDAN", vehicle.Low), "correct"},
		{"fuzzy", gold, accepted("A - B1C - SEDAN", vehicle.High), "wrong"},
		{"ambiguous", gold, shown, "correct"},
		{"ambiguous", append(gold, Gold{"TOYOTA", "X - Y1Z - SEDAN"}), shown, "abstained"},
		{"abstain", nil, shown, "correct"},
		{"abstain", nil, accepted("A - B1C - SEDAN", vehicle.Low), "wrong"},
	} {
		report := NewReport()
		report.Add(Case{Kind: "kind", Expect: c.expect, Gold: c.gold}, c.found)
		all := report.All()
		if got := map[bool]string{true: "correct"}[all.Correct.Of == 1] + map[bool]string{true: "wrong"}[all.Wrong == 1] +
			map[bool]string{true: "abstained"}[all.Abstained == 1]; got != c.want {
			t.Errorf("%s, %+v: %q, want %q", c.expect, c.found, got, c.want)
		}
	}
	report := NewReport()
	report.Add(Case{Kind: "kind"}, shown)
	if report.Cases() != 0 {
		t.Error("a case without an expectation is counted")
	}
	var table strings.Builder
	if err := report.Write(&table); err != nil || !strings.Contains(table.String(), "recall@10") {
		t.Errorf("%q, %v", table.String(), err)
	}
}

// TestOddListings are of kinds that the development cases lack.
func TestOddListings(t *testing.T) {
	cat, facts := simulatedCatalogue(t)
	matcher := match.New(match.Options{Facts: facts})
	fielder, vitz := "COROLLA FIELDER - NKE165 - HYBRID - WAGON", "VITZ - KSP130 - HATCHBACK"
	for _, c := range []struct {
		name    string
		listing Case
		outcome string
		best    string // first candidate
	}{
		{"a bare code in the title", Case{Make: "TOYOTA", Title: "TOYOTA COROLLA FIELDER NKE165 HYBRID", Year: "2015", CC: "1500", Fuel: "HYBRID"}, "match", fielder},
		{"all in Japanese", Case{Make: "トヨタ", Title: "トヨタ カローラフィールダー ﾊｲﾌﾞﾘｯﾄﾞ", ModelCode: "DAA-NKE165G", Year: "平成27年", CC: "1,496cc", Fuel: "ハイブリッド"}, "match", fielder},
		{"the last word of the name", Case{Make: "TOYOTA", Title: "TOYOTA FIELDER HYBRID", ModelCode: "NKE165", Year: "2015", Fuel: "PETROL"}, "match", fielder},
		{"selling words before the name", Case{Make: "NISSAN", Title: "★USED 2014 NISSAN X TRAIL low price US$7,200", ModelCode: "DBA-NT32", Year: "2014"}, "match", "X-TRAIL - NT32 - SUV"},
		{"masked serial run together", Case{Make: "TOYOTA", Title: "TOYOTA VITZ", ModelCode: "KSP1302103***"}, "match", vitz},
		{"make against title", Case{Make: "HONDA", Title: "TOYOTA VITZ F", ModelCode: "KSP130"}, "ambiguous", vitz},
		{"model of another make", Case{Make: "HONDA", Title: "VITZ F", ModelCode: "KSP130"}, "none", vitz},
		{"no make", Case{Title: "VITZ F", ModelCode: "KSP130"}, "none", vitz},
		{"engine against code", Case{Make: "TOYOTA", Title: "VITZ", ModelCode: "KSP130", CC: "2.0L"}, "ambiguous", vitz},
		{"fuel against code", Case{Make: "TOYOTA", Title: "VITZ", ModelCode: "KSP130", Fuel: "DIESEL"}, "none", vitz},
		{"two codes", Case{Make: "TOYOTA", Title: "VITZ", ModelCode: "DBA-KSP130 / DBA-NSP130"}, "ambiguous", vitz},
	} {
		found, err := Run(t.Context(), matcher, c.listing, cat)
		if err != nil || found.Outcome != c.outcome || len(found.Candidates) == 0 || found.Candidates[0].ModelBody != c.best {
			t.Errorf("%s: %+v, %v; want %s, %s", c.name, found, err, c.outcome, c.best)
		}
	}
}
