package match

import (
	"slices"
	"strings"
)

// nearestTo lists the make's nameplates, as chassis.NameKey folds them, that
// the listing's name most nearly spells; none when it is far from all. It is
// used for names only: a chassis code is never accepted by similarity.
func (n *name) nearestTo(plates []nameplate) []string {
	best := maxEdits + 1
	var names []string
	for _, plate := range plates {
		edits, near := n.edits(plate.key)
		if !near || edits > best || slices.Contains(names, plate.key) {
			continue
		}
		if edits < best {
			best, names = edits, nil
		}
		names = append(names, plate.key)
	}
	return names
}

// maxEdits is the most typing errors that a name may hold; shorter names fewer.
const maxEdits = 2

// edits counts the typing errors between the name's first words and a
// nameplate. Short names and names that differ in a digit are not near:
// RX350 and RX450 are two cars.
func (n *name) edits(key string) (int, bool) {
	allowed := min(len(key)/4, maxEdits)
	if len(key) < 5 {
		allowed = 0
	}
	for to := 1; to <= min(maxNameWords, len(n.words)); to++ {
		written := strings.Join(n.words[:to], "")
		if d := Distance(written, key); d <= allowed && digitsOf(written) == digitsOf(key) {
			return d, true
		}
	}
	return 0, false
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// maxDistance is the largest distance that is distinguished.
const maxDistance = 9

// Distance counts the insertions, deletions, substitutions and swaps of
// neighbours between two texts (optimal string alignment), in bytes, up to
// maxDistance. Texts longer than names and codes are far from everything.
func Distance(a, b string) int {
	var rows [3][64]int
	if len(b) >= len(rows[0]) || len(a)-len(b) >= maxDistance || len(b)-len(a) >= maxDistance {
		return maxDistance
	}
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := oneIf(a[i-1] != b[j-1])
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return min(above[len(b)], maxDistance)
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
