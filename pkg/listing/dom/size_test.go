package dom

import (
	"strings"
	"testing"
)

func TestFormattingLeftOpenIsBoundedBeforeTheTreeIsBuilt(t *testing.T) {
	var markup strings.Builder
	markup.WriteString("<p>")
	for i := range 400 {
		markup.WriteString("<font size=" + strings.Repeat("1", i+1) + ">")
	}
	markup.WriteString(strings.Repeat("</p><p>x", 20_000))
	if err := CheckSize([]byte(markup.String())); err == nil {
		t.Error("eight million nodes let through")
	}
	balanced := strings.Repeat(`<p><b class="x">a</b><i class="y">b</i></p>`, 20_000)
	if err := CheckSize([]byte(balanced)); err != nil {
		t.Error("a long plain page is refused")
	}
}
