package listingtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// picture draws a car in a few shapes, with the car's name and the number of
// the picture.
func picture(w http.ResponseWriter, r *http.Request) {
	ref, number, _ := strings.Cut(strings.TrimSuffix(r.PathValue("name"), ".svg"), "_")
	at, err := strconv.Atoi(number)
	for _, c := range cars {
		if c.Ref != ref || err != nil || at < 1 || at > c.Images {
			continue
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		hue := c.ID * 47 % 360
		_, _ = fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 240" role="img">
<rect width="320" height="240" fill="#eef"/>
<path d="M30 160v-30l50-10 40-35h80l45 35 45 12v28z" fill="hsl(%d 60%% 45%%)"/>
<circle cx="90" cy="162" r="22"/><circle cx="235" cy="162" r="22"/>
<text x="160" y="36" text-anchor="middle" font-family="sans-serif" font-size="18">SIMULATED %d/%d</text>
<text x="160" y="222" text-anchor="middle" font-family="sans-serif" font-size="16">%s %s</text>
</svg>
`, hue, at, c.Images, c.Make, c.Model)
		return
	}
	http.NotFound(w, r)
}
