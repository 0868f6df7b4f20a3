package match

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"ushuru/pkg/vehicle"
)

// Tally counts the cases of one kind.
type Tally struct {
	Correct   Share // accepted the right label, or did not accept where nothing decides
	Wrong     int   // accepted a wrong label, or a right one with more confidence than there can be
	Abstained int   // neither: nothing accepted where something was to be
	Recall    Share // a right label among the ten candidates; of cases that have one
	Precision Share // right labels among those accepted
}

// add counts a case. What is right, matching each expectation:
//   - match: the one right label is accepted;
//   - ambiguous: nothing is accepted and the right labels are candidates, or
//     one of them is accepted, but not as high;
//   - fuzzy: a right label is a candidate, or accepted, but not as high;
//   - abstain: nothing is accepted. (Low is counted as wrong too, which is
//     stricter than asked.)
func (t *Tally) add(c Case, found Found) {
	accepted, gold := found.Outcome == "match", c.isGold(found.Make, found.ModelBody)
	recalled := c.recalled(found)
	if len(c.Gold) > 0 {
		t.Recall.count(recalled)
	}
	if accepted {
		t.Precision.count(gold)
	}
	tooSure := found.Confidence == vehicle.High && c.Expect != "match"
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

// NewReport makes an empty Report.
func NewReport() *Report { return &Report{kinds: map[string]*Tally{}} }

// Add counts a case and what was found. A case without an expectation is left
// out.
func (r *Report) Add(c Case, found Found) {
	if c.Expect == "" {
		return
	}
	kind := c.Kind + " (" + c.Expect + ")"
	if r.kinds[kind] == nil {
		r.kinds[kind] = &Tally{}
	}
	r.kinds[kind].add(c, found)
	r.all.add(c, found)
	if c.Expect == "abstain" {
		r.sure.count(found.Confidence == vehicle.High || found.Confidence == vehicle.Medium)
	}
}

// Cases is how many cases were counted.
func (r *Report) Cases() int { return r.all.Correct.Cases }

// All are the counts of all kinds together.
func (r *Report) All() Tally { return r.all }

// Kind are the counts of a kind with an expectation: "exact_code (match)".
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
