package message

import "slices"

// maxRaised is how many warnings of an answer may be above the level info.
const maxRaised = 4

var rank = map[string]int{Danger: 0, Caution: 1, Info: 2, "": 2}

// Limit returns the warnings of an answer, those that matter most first, each code
// once. After the first four above info the level of the others is info. To limit a
// list again changes nothing.
func Limit(warnings []Notice) []Notice {
	var kept []Notice
	for _, w := range warnings {
		if slices.ContainsFunc(kept, func(k Notice) bool { return k.Code == w.Code }) {
			continue
		}
		if r, known := table["warning/"+w.Code]; known {
			w.Level = r.level // an earlier limit may have lowered it
		}
		kept = append(kept, w)
	}
	slices.SortStableFunc(kept, func(v, w Notice) int { return rank[v.Level] - rank[w.Level] })
	for i := maxRaised; i < len(kept); i++ {
		kept[i].Level = Info
	}
	return kept
}
