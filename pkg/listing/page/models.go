package page

import (
	_ "embed"
	"strings"

	"ushuru/pkg/datatable"
	"ushuru/pkg/listing/claim"
)

//go:embed models.txt
var modelList string

// models are the squashed nameplates of each make, by the make's squashed name.
var models = func() map[string]map[string]bool {
	table := map[string]map[string]bool{}
	for _, row := range datatable.Lines(modelList, 1) {
		maker, list, _ := strings.Cut(row[0], ": ")
		own := map[string]bool{}
		for nameplate := range strings.SplitSeq(list, ", ") {
			own[claim.Squash(nameplate)] = true
		}
		table[claim.Squash(maker)] = own
	}
	return table
}()

// maxModelWords is the number of words of the longest nameplate.
const maxModelWords = 4

// cutModel cuts the longest nameplate of a make from the front of words.
func cutModel(maker string, words []string) (model string, rest []string) {
	own := models[claim.Squash(maker)]
	for n := min(maxModelWords, len(words)); n > 0; n-- {
		if own[claim.Squash(strings.Join(words[:n], ""))] {
			return strings.Trim(strings.Join(words[:n], " "), ",;"), words[n:]
		}
	}
	return "", words
}
