package sheet

import (
	_ "embed"
	"sync"
)

//go:embed words.csv
var wordTable string

// word is a printed word and what it means.
type word struct {
	value string // of our closed lists: petrol, rental, red; a severity for circled words
	text  Text
}

// words are the printed words by list and folded Japanese, or by our own name
// for panels, sides and areas.
var words = sync.OnceValue(func() map[[2]string]word {
	all := map[[2]string]word{}
	for _, row := range table(wordTable, 5) {
		all[[2]string{row[0], fold(row[1])}] = word{row[2], Text{row[3], row[4]}}
	}
	return all
})

// wordOf looks a printed word up.
func wordOf(list, printed string) (word, bool) {
	w, found := words()[[2]string{list, fold(printed)}]
	return w, found
}

// nameOf returns our word for a panel, a side or an area.
func nameOf(list, name string) Text {
	w, _ := wordOf(list, name)
	return w.text
}

// saysUnknown says whether the sheet itself prints that a value is not known.
func saysUnknown(printed string) bool {
	_, found := wordOf("unknown", printed)
	return found
}

//go:embed texts.csv
var textTable string

// said is a text of ours, with a weight where it has one.
type said struct {
	text     Text
	severity Severity
}

// texts are our sentences by list and key.
var texts = sync.OnceValue(func() map[[2]string]said {
	all := map[[2]string]said{}
	for _, row := range table(textTable, 5) {
		all[[2]string{row[0], row[1]}] = said{Text{row[3], row[4]}, Severity(row[2])}
	}
	return all
})

func textOf(list, key string) said { return texts()[[2]string{list, key}] }

//go:embed codes.csv
var codeTable string

// damage is a damage code or the phrase of a legend.
type damage struct {
	text     Text
	severity Severity
	sizes    string // the kind of its sizes; "" where it has none
}

// damages are codes, phrases of legends and sizes by list and folded key.
var damages = sync.OnceValue(func() map[[2]string]damage {
	all := map[[2]string]damage{}
	for _, row := range table(codeTable, 6) {
		all[[2]string{row[0], fold(row[1])}] = damage{Text{row[2], row[3]}, Severity(row[4]), row[5]}
	}
	return all
})

func damageOf(list, key string) (damage, bool) {
	d, found := damages()[[2]string{list, fold(key)}]
	return d, found
}
