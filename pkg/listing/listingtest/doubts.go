package listingtest

import (
	_ "embed"
	"encoding/json"
	"net/http"
)

// Doubt is a made-up car whose page a reader can misread.
type Doubt struct {
	Car

	Rows      [][2]string `json:"rows"`      // labels and values of its table
	Neighbour bool        `json:"neighbour"` // the page shows the price of another car, and none of its own
	Known     string      `json:"known"`     // what the seller said, as the field of a request; "" when nothing is needed
}

//go:embed doubts.json
var doubtData []byte

// Doubts returns the cars whose pages a reader can misread. They are not among Cars.
func Doubts() (list []Doubt) {
	if err := json.Unmarshal(doubtData, &list); err != nil {
		panic("listingtest: doubts.json: " + err.Error())
	}
	return list
}

// addDoubts serves the pages of Doubts.
func addDoubts(mux *http.ServeMux) {
	for _, doubt := range Doubts() {
		mux.HandleFunc("GET "+exactly(doubt.Path()), func(w http.ResponseWriter, _ *http.Request) {
			render(w, "doubt.html", struct {
				Doubt
				Banner string
			}{doubt, Banner})
		})
	}
}
