package export

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// drawingXML places the chart beside the table of the cheapest.
const drawingXML = xmlHead + `<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" ` +
	`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:twoCellAnchor>` +
	`<xdr:from><xdr:col>7</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>0</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from>` +
	`<xdr:to><xdr:col>20</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>28</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to>` +
	`<xdr:graphicFrame macro="">` +
	`<xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="Cost over year"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr>` +
	`<xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic>` +
	`<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart">` +
	`<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:r="` + relNS + `" r:id="rId1"/>` +
	`</a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor></xdr:wsDr>`

// The parts of the chart.
const (
	chartBegin = xmlHead + `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ` +
		`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart>`
	plotBegin = `<c:autoTitleDeleted val="0"/><c:plotArea><c:layout/>` +
		`<c:scatterChart><c:scatterStyle val="lineMarker"/><c:varyColors val="0"/>`
	plotAxes = `<c:axId val="1"/><c:axId val="2"/></c:scatterChart>`
	chartEnd = `</c:plotArea><c:legend><c:legendPos val="b"/><c:overlay val="0"/></c:legend>` +
		`<c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>` // a row without a cost has no dot

	// Of a title: its text.
	titleFormat = `<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>%s</a:t></a:r></a:p></c:rich></c:tx>` +
		`<c:overlay val="0"/></c:title>`
	// Of a series: its number, twice; its name; size and colour of its dots; cells of x and y.
	seriesFormat = `<c:ser><c:idx val="%d"/><c:order val="%d"/><c:tx><c:v>%s</c:v></c:tx>` +
		`<c:spPr><a:ln w="19050"><a:noFill/></a:ln></c:spPr><c:marker><c:symbol val="circle"/><c:size val="%d"/>` +
		`<c:spPr><a:solidFill><a:srgbClr val="%s"/></a:solidFill><a:ln><a:noFill/></a:ln></c:spPr></c:marker>` +
		`<c:xVal><c:numRef><c:f>%s</c:f></c:numRef></c:xVal><c:yVal><c:numRef><c:f>%s</c:f></c:numRef></c:yVal>` +
		`<c:smooth val="0"/></c:ser>`
	// Of an axis before its title: its number, its bounds and its side; behind it: how numbers are
	// written, the axis that it crosses, and its steps.
	axisBeginFormat = `<c:valAx><c:axId val="%d"/><c:scaling><c:orientation val="minMax"/>%s</c:scaling>` +
		`<c:delete val="0"/><c:axPos val="%s"/>`
	boundsFormat = `<c:max val="%d"/><c:min val="%d"/>`
	stepsFormat  = `<c:crossBetween val="midCat"/><c:majorUnit val="%d"/>`
	gridlines    = `<c:majorGridlines><c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="D9D9D9"/></a:solidFill></a:ln>` +
		`</c:spPr></c:majorGridlines>`
	axisEndFormat = `<c:numFmt formatCode="%s" sourceLinked="0"/><c:majorTickMark val="out"/><c:minorTickMark val="none"/>` +
		`<c:tickLblPos val="nextTo"/><c:crossAx val="%d"/><c:crosses val="min"/>%s</c:valAx>`
)

// chart returns the chart: the cost on the road over the year, of all cars and of the
// cheapest. It refers to the cells, so that it has no figures of its own.
func (t *xlsxTable) chart() string {
	name := func(wanted string) string {
		return columnName(slices.IndexFunc(t.columns, func(c column) bool { return c.name == wanted }))
	}
	var b strings.Builder
	b.WriteString(chartBegin)
	title(&b, t.digest.text("picture"))
	b.WriteString(plotBegin)
	last := max(t.cars.rows, 2)
	points(&b, 0, t.digest.text("all"), "8FAADC",
		fmt.Sprintf("%s!$%s$2:$%s$%d", carSheet, name("year"), name("year"), last),
		fmt.Sprintf("%s!$%s$2:$%s$%d", carSheet, name("onTheRoadTZS"), name("onTheRoadTZS"), last))
	cheapest := max(len(t.digest.cheapest)+1, 2)
	points(&b, 1, t.digest.text("cheapest"), "C00000",
		fmt.Sprintf("Picture!$D$2:$D$%d", cheapest), fmt.Sprintf("Picture!$E$2:$E$%d", cheapest))
	b.WriteString(plotAxes)
	years := chartAxis{id: 1, cross: 2, position: "b", name: t.digest.text("year"), format: "0"}
	if first, last, some := t.digest.years(); some {
		years.bounds = fmt.Sprintf(boundsFormat, last+1, first-1)
		years.steps = fmt.Sprintf(stepsFormat, 1+(last-first)/maxYearLabels)
	}
	years.write(&b)
	chartAxis{id: 2, cross: 1, position: "l", name: t.digest.text("onTheRoad"), format: "#,##0", lines: true}.write(&b)
	b.WriteString(chartEnd)
	return b.String()
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

func title(b *strings.Builder, text string) {
	_, _ = fmt.Fprintf(b, titleFormat, escaped(text))
}

func points(b *strings.Builder, index int, name, colour, x, y string) {
	_, _ = fmt.Fprintf(b, seriesFormat, index, index, escaped(name), 4+2*index, colour, x, y)
}

// maxYearLabels is how many years the axis names.
const maxYearLabels = 16

// chartAxis is an axis of the chart. Without bounds and steps the spreadsheet chooses them,
// which for years begins at 0.
type chartAxis struct {
	id, cross              int
	position, name, format string
	bounds, steps          string
	lines                  bool
}

func (a chartAxis) write(b *strings.Builder) {
	_, _ = fmt.Fprintf(b, axisBeginFormat, a.id, a.bounds, a.position)
	if a.lines {
		b.WriteString(gridlines)
	}
	title(b, a.name)
	_, _ = fmt.Fprintf(b, axisEndFormat, a.format, a.cross, a.steps)
}

// serial returns a moment as spreadsheets count days, in Dar es Salaam's time of the API's
// answer; false when it is none.
func (m moment) serial() (string, bool) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		at, err := time.Parse(layout, string(m))
		if err != nil {
			continue
		}
		_, offset := at.Zone()
		seconds := at.Unix() + int64(offset) - time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
		return strconv.FormatFloat(float64(seconds)/(24*60*60), 'f', 6, 64), true
	}
	return "", false
}
