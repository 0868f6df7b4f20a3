package match

import (
	"sync"

	"ushuru/pkg/chassis"
)

// madeBy are the makes of embedded codes and models, by NameKey: "" where two makes share
// one.
type madeBy struct {
	codes, models map[string]string
	makes         map[string]bool
}

var makers = sync.OnceValue(func() madeBy {
	made := madeBy{map[string]string{}, map[string]string{}, map[string]bool{}}
	add := func(to map[string]string, name, mk string) {
		if other, seen := to[name]; seen && other != mk {
			mk = ""
		}
		to[name] = mk
	}
	for key := range knownCodes().byModel {
		add(made.models, key[1], key[0])
		add(made.codes, key[2], key[0])
		made.makes[key[0]] = true
	}
	return made
})

// MakeOf returns the make that alone has a chassis code, or a model by this name; "" when
// none is known or several are.
func MakeOf(code, model string) string {
	if mk := makers().codes[code]; mk != "" {
		return mk
	}
	return makers().models[chassis.NameKey(model)]
}

// IsMake reports whether a word is the name of a make whose codes are known.
func IsMake(word string) bool { return makers().makes[chassis.NameKey(chassis.AuthorityMake(word))] }
