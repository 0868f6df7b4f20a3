package export_test

import (
	"bytes"
	"fmt"
	"strings"

	"ushuru/pkg/batch"
	"ushuru/pkg/export"
)

// A table has one line for each listing; cells without a value are empty.
func ExampleNewCSV() {
	var out bytes.Buffer
	table, err := export.NewCSV(&out, export.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = table.Line(export.Line{
		Number: 1, Reference: "=lot 17", URL: "https://www.example.com/car/1", State: batch.Failed,
		Code: "listing_gone", Reason: "The listing no longer exists.",
	})
	if err == nil {
		err = table.Close()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(out.String()) {
		fmt.Println(strings.Join(strings.Split(line, ",")[:6], " | "))
	}
	// Output:
	// row | reference | url | state | code | reason
	// 1 | '=lot 17 | https://www.example.com/car/1 | failed | listing_gone | The listing no longer exists.
}
