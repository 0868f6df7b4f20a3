package export

import (
	_ "embed" // the chart
	"fmt"
	"io"
	"slices"
	"text/template"
)

//go:embed chart.xml
var chartXML string

// chartTemplate is the chart. It refers to the cells, so that it has no figures of its own.
var chartTemplate = template.Must(template.New("chart").Parse(chartXML))

// chart are the values of the chart: the cost on the road over the year.
type chart struct {
	Title, Year, OnTheRoad string
	Series                 []series
	Years                  *yearAxis // nil leaves the axis to the spreadsheet, which begins it at 0
}

// series are the cars of one colour, with the cells of their years and costs.
type series struct {
	Name, Colour string
	Size         int // of a dot
	X, Y         string
}

// yearAxis are the bounds and the steps of the axis of years.
type yearAxis struct{ Min, Max, Step int }

// maxYearLabels is how many years the axis names.
const maxYearLabels = 16

// writeChart writes the chart of all cars and of the cheapest.
func (t *xlsxTable) writeChart(w io.Writer) error {
	cars := func(wanted string) string {
		name := columnName(slices.IndexFunc(t.columns, func(c column) bool { return c.name == wanted }))
		return fmt.Sprintf("%s!$%s$2:$%s$%d", carSheet, name, name, max(t.cars.rows, 2))
	}
	cheapest := func(name string) string {
		return fmt.Sprintf("Picture!$%s$2:$%s$%d", name, name, max(len(t.digest.cheapest)+1, 2))
	}
	c := chart{
		Title: t.digest.text("picture"), Year: t.digest.text("year"), OnTheRoad: t.digest.text("onTheRoad"),
		Series: []series{
			{t.digest.text("all"), "8FAADC", 4, cars("year"), cars("onTheRoadTZS")},
			{t.digest.text("cheapest"), "C00000", 6, cheapest("D"), cheapest("E")},
		},
	}
	if years := t.digest.years; years != nil {
		c.Years = &yearAxis{years.first - 1, years.last + 1, 1 + (years.last-years.first)/maxYearLabels}
	}
	return chartTemplate.Execute(w, c)
}
