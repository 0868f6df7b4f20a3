package listingtest

import (
	"embed"
	"io/fs"
	"strings"
)

// The inspection sheets of some cars: SIMULATED ones, drawn by
// "ushuru simulate sheets --out DIR ID…" and kept here because a bare machine
// has no Japanese fonts. What stands on them is in pkg/sheet/sheettest.
//
//go:embed sheets
var sheetFiles embed.FS

// Sheet returns the path of the car's inspection sheet, "" when it has none.
func (c Car) Sheet() string {
	name := "sheets/" + strings.ToLower(c.Ref) + ".jpg"
	if _, err := fs.Stat(sheetFiles, name); err != nil {
		return ""
	}
	return "/" + name
}
