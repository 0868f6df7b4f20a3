package bench

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"ushuru/pkg/listing"
	"ushuru/pkg/listing/listingtest"
)

// score counts the values of one attribute: on the page, read, and read rightly.
type score struct{ there, given, right float64 }

func (s score) precision() float64 { return share(s.right, s.given) }
func (s score) recall() float64    { return share(s.right, s.there) }
func (s score) f1() float64        { return share(2*s.right, s.there+s.given) }

func share(part, whole float64) float64 {
	if whole == 0 {
		return 1
	}
	return part / whole
}

// allAttributes is the row of all attributes together.
const allAttributes = "all"

// EvaluateListings reads the pages of a folder, compares them with its truth.txt, and
// writes precision, recall and F1 of each attribute, with the deviation of F1 over
// resamples of the pages (bootstrap).
func EvaluateListings(ctx context.Context, out io.Writer, folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "truth.txt")) //nolint:gosec // of the operator
	if err != nil {
		return err
	}
	truth := listingtest.Truth(string(text))
	attributes := map[string]bool{}
	for _, want := range truth {
		for field := range want {
			attributes[field] = field != "url"
		}
	}
	var pages []map[string]score
	for _, name := range slices.Sorted(maps.Keys(truth)) {
		body, err := os.ReadFile(filepath.Join(folder, name+".html")) //nolint:gosec // of the operator
		if err != nil {
			return err
		}
		got := map[string]string{}
		if read, err := listing.Read(ctx, listing.FromFile(body, truth[name]["url"])); err == nil {
			if got, err = listingtest.Flatten(read.Car); err != nil {
				return err
			}
		}
		pages = append(pages, scoresOf(got, truth[name], attributes))
	}
	return writeScores(out, pages, attributes)
}

// scoresOf compares one page with the truth.
func scoresOf(got, want map[string]string, attributes map[string]bool) map[string]score {
	scores, all := map[string]score{}, score{}
	for field, counts := range attributes {
		if !counts {
			continue
		}
		var s score
		if want[field] != "" {
			s.there = 1
		}
		if got[field] != "" {
			s.given = 1
		}
		if s.there+s.given == 2 && got[field] == want[field] {
			s.right = 1
		}
		scores[field] = s
		all = score{all.there + s.there, all.given + s.given, all.right + s.right}
	}
	scores[allAttributes] = all
	return scores
}

func writeScores(out io.Writer, pages []map[string]score, attributes map[string]bool) error {
	const head = "| attribute | pages | precision | recall | F1 | deviation |\n|---|--:|--:|--:|--:|--:|"
	if _, err := fmt.Fprintln(out, head); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(attributes))
	for _, name := range append(names, allAttributes) {
		if name != allAttributes && !attributes[name] {
			continue
		}
		total, there := score{}, 0
		for _, page := range pages {
			total = total.plus(page[name])
			if page[name].there > 0 {
				there++
			}
		}
		_, err := fmt.Fprintf(out, "| %s | %d | %.3f | %.3f | %.3f | %.3f |\n",
			name, there, total.precision(), total.recall(), total.f1(), deviation(pages, name))
		if err != nil {
			return err
		}
	}
	return nil
}

func (s score) plus(o score) score {
	return score{s.there + o.there, s.given + o.given, s.right + o.right}
}

// resamples is how often the pages are drawn anew.
const resamples = 1000

// deviation returns the standard deviation of F1 over resamples of the pages.
func deviation(pages []map[string]score, name string) float64 {
	draw := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same draws each time
	var sum, squares float64
	for range resamples {
		var s score
		for range pages {
			s = s.plus(pages[draw.IntN(len(pages))][name])
		}
		sum, squares = sum+s.f1(), squares+s.f1()*s.f1()
	}
	mean := sum / resamples
	return math.Sqrt(max(0, squares/resamples-mean*mean))
}
