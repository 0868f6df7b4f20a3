package sheettest

import (
	_ "embed"
	"encoding/json"
)

// car is a kind of car that sheets are made of.
type car struct {
	Name   string   `json:"name"`
	Trims  []string `json:"trims"`
	Codes  []string `json:"codes"`
	CC     int      `json:"cc"`
	Fuel   string   `json:"fuel"` // as sheets print it
	Shape  string   `json:"shape"`
	Seats  int      `json:"seats"`
	Drive  string   `json:"drive"`
	Load   int      `json:"load"` // kg, of goods vehicles
	From   int      `json:"from"` // years of registration
	To     int      `json:"to"`
	Shifts []string `json:"shifts"`
}

//go:embed cars.json
var carData []byte

var cars = func() (list []car) {
	if err := json.Unmarshal(carData, &list); err != nil {
		panic("sheettest: cars.json: " + err.Error())
	}
	return list
}()

//go:embed words.json
var wordData []byte

// words are what sheets say, our own choice of the trade's usual phrases.
var words = func() (w struct {
	Points        []string               `json:"points"`
	SellerDefects []string               `json:"seller_defects"`
	SellerOptions []string               `json:"seller_options"`
	Inspector     []string               `json:"inspector"`
	Office        []string               `json:"office"`
	Circled       []string               `json:"circled"`
	Colours       []string               `json:"colours"`
	Inside        []string               `json:"inside"`
	Glass         []string               `json:"glass"`
	Rooms         []string               `json:"rooms"`
	Meters        []string               `json:"meters"`
	Codes         []string               `json:"codes"`
	Venues        []string               `json:"venues"`
	Corners       []string               `json:"corners"`
	Legends       map[string][][2]string `json:"legends"`
},
) {
	if err := json.Unmarshal(wordData, &w); err != nil {
		panic("sheettest: words.json: " + err.Error())
	}
	return w
}()
