package sheettest

import (
	_ "embed"
	"encoding/json"
)

// demoData are the sheets of the demo's listing site in full, so that they stay
// what the committed pictures show (pkg/listing/listingtest/sheets).
//
//go:embed demo.json
var demoData []byte

var demoSheets = func() (list []Sheet) {
	if err := json.Unmarshal(demoData, &list); err != nil {
		panic("sheettest: demo.json: " + err.Error())
	}
	return list
}()

// Demo returns the sheet of a car of the demo's listing site, by the car's
// stock number in lower case.
func Demo(id string) (Sheet, bool) {
	for _, s := range demoSheets {
		if s.ID == id {
			s.Truth = s.Truth.clone()
			return s, true
		}
	}
	return Sheet{}, false
}

// Demos returns the ids of the demo's sheets.
func Demos() (ids []string) {
	for _, s := range demoSheets {
		ids = append(ids, s.ID)
	}
	return ids
}
