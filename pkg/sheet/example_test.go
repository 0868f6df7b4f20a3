package sheet_test

import (
	"fmt"

	"ushuru/pkg/sheet"
)

// A note is cut into phrases of the glossary and put together in both languages.
func ExampleCompose() {
	text, complete := sheet.Compose(sheet.Pieces("右Fドア小キズ有"))
	fmt.Println(text.EN, complete)
	fmt.Println(text.SW)
	// Output:
	// right front door: some small scratches true
	// mlango wa mbele wa kulia: mikwaruzo midogo ipo
}
