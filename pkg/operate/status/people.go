package status

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"ushuru/pkg/metrics"
)

// sitesAsked is how many sites that visitors asked for are shown, the commonest.
const sitesAsked = 100

// People are what visitors of the pages asked for in the last 24 hours.
type People struct {
	metrics.People

	Left     int64       `json:"left"` // asked for, and no visitor has seen the end: some wait still
	MedianMS int64       `json:"medianMs"`
	Sites    []AskedSite `json:"sites"` // those first that most networks asked for
}

// AskedSite is a site that visitors asked for.
type AskedSite struct {
	metrics.AskedSite

	Host string `json:"host"` // the registered domain, or other
}

func (r *reading) people(ctx context.Context) (People, error) {
	read, err := metrics.ReadPeople(ctx, r.redis, r.now, hoursShown)
	people := People{
		People: read, Left: max(sum(read.Asked)-read.Answered-sum(read.Refused), 0), MedianMS: read.Median.Milliseconds(),
	}
	for host, site := range read.Sites {
		people.Sites = append(people.Sites, AskedSite{site, host})
	}
	slices.SortFunc(people.Sites, func(a, b AskedSite) int {
		return cmp.Or(cmp.Compare(b.Networks, a.Networks), cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Host, b.Host))
	})
	people.Sites = people.Sites[:min(len(people.Sites), sitesAsked)]
	return people, err
}

// Commonest returns the names of counts, the highest first.
func Commonest(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

func sum(counts map[string]int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}
