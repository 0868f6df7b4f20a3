package evaluate

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"ushuru/pkg/vehicle"
)

// Tally counts the cases of one kind.
type Tally struct {
	Correct   Share // the right label accepted, or no label accepted where nothing decides
	Wrong     int   // a wrong label accepted, or a right one with too much confidence
	Abstained int   // neither: no label accepted where one was expected
	Recall    Share // cases with a right label among the candidates, of those that have one
	Precision Share // right labels among the accepted ones
}

// add counts a case. A result is correct when, by expectation:
//   - match: the one right label is accepted;
//   - ambiguous: no label is accepted and the right ones are candidates, or
//     one of them is accepted with less than high;
//   - fuzzy: a right label is a candidate, or accepted with less than high;
//   - abstain: no label is accepted, not even with low.
func (t *Tally) add(c Case, result Result) {
	accepted, gold := result.Outcome == "match", c.isGold(result.Make, result.ModelBody)
	recalled := c.recalled(result)
	if len(c.Gold) > 0 {
		t.Recall.count(recalled)
	}
	if accepted {
		t.Precision.count(gold)
	}
	tooSure := result.Confidence == vehicle.High && c.Expect != "match"
	switch {
	case accepted && (!gold || tooSure):
		t.Wrong++
		t.Correct.count(false)
	case accepted, c.Expect == "abstain", c.Expect != "match" && recalled:
		t.Correct.count(true)
	default:
		t.Abstained++
		t.Correct.count(false)
	}
}

// Report counts cases by kind.
type Report struct {
	kinds map[string]*Tally
	all   Tally
	sure  Share // cases with nothing to accept that were accepted as high or medium
}

// NewReport returns an empty Report.
func NewReport() *Report { return &Report{kinds: map[string]*Tally{}} }

// Add counts a case and what was result. A case without an expectation is left
// out.
func (r *Report) Add(c Case, result Result) {
	if c.Expect == "" {
		return
	}
	kind := c.Kind + " (" + c.Expect + ")"
	if r.kinds[kind] == nil {
		r.kinds[kind] = &Tally{}
	}
	r.kinds[kind].add(c, result)
	r.all.add(c, result)
	if c.Expect == "abstain" {
		r.sure.count(result.Confidence == vehicle.High || result.Confidence == vehicle.Medium)
	}
}

// Cases returns the number of counted cases.
func (r *Report) Cases() int { return r.all.Correct.Cases }

// All returns the counts of all kinds together.
func (r *Report) All() Tally { return r.all }

// Kind returns the counts of one kind with its expectation, for example
// "exact_code (match)".
func (r *Report) Kind(name string) Tally {
	if t := r.kinds[name]; t != nil {
		return *t
	}
	return Tally{}
}

// Write prints a table by kind and overall, with Wilson 95 % intervals.
func (r *Report) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	names := make([]string, 0, len(r.kinds))
	for name := range r.kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintln(w, "kind (expected)\tcorrect\twrong\tabstained\trecall@10\tprecision@accept")
	for _, name := range names {
		t := r.kinds[name]
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\n", name, &t.Correct, t.Wrong, t.Abstained, &t.Recall, &t.Precision)
	}
	fmt.Fprintf(w, "all\t%s\t%d\t%d\t%s\t%s\n", &r.all.Correct, r.all.Wrong, r.all.Abstained, &r.all.Recall, &r.all.Precision)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nIntervals are Wilson's, 95 %%."+
		" Absent from the catalogue but accepted as high or medium: %s\n", &r.sure)
	return err
}
