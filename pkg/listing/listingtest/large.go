package listingtest

import (
	"bytes"
	"fmt"
	"strings"
)

// Large returns the page of the first car grown to at least size bytes by what
// makes an exporter's page large: menus, lists of countries, scripts, and
// similar cars with prices of their own. The car is the same.
func Large(size int) []byte {
	const base = "https://cars.example.com"
	var page bytes.Buffer
	car := cars[0]
	shown := view{Car: car, Banner: Banner, Base: base, Schema: schema(car, base)}
	if err := templates.ExecuteTemplate(&page, car.Page+".html", shown); err != nil {
		panic("listingtest: " + err.Error()) // the templates are our own
	}
	const end = "</body></html>"
	head, _, _ := strings.Cut(page.String(), end)
	page.Reset()
	page.WriteString(head)
	for i := 0; page.Len() < size; i++ {
		ballast[i%len(ballast)](&page, i)
	}
	page.WriteString(end + "\n")
	return page.Bytes()
}

// ballast are the kinds of things a page is full of.
var ballast = []func(b *bytes.Buffer, i int){
	func(b *bytes.Buffer, i int) { // a menu
		b.WriteString(`<nav class="gnav"><ul class="make-list">`)
		for n := range 12 {
			fmt.Fprintf(b, `<li class="make-item"><a href="/stocklist/make=%d/sortkey=n/" title="Used cars">`+
				`<span class="name">Maker %d</span> <span class="count">(%d)</span></a></li>`+"\n", i+n, i+n, 100*n)
		}
		b.WriteString("</ul></nav>\n")
	},
	func(b *bytes.Buffer, i int) { // a list to choose from
		fmt.Fprintf(b, `<select class="country" name="country_%d">`, i)
		for n := range 20 {
			fmt.Fprintf(b, `<option value="%d">Country &amp; port %d</option>`, n, n)
		}
		b.WriteString("</select>\n")
	},
	func(b *bytes.Buffer, i int) { // a script
		b.WriteString("<script>window.dataLayer = window.dataLayer || []; window.dataLayer.push({'event': 'list', 'list': [\n")
		for n := range 20 {
			fmt.Fprintf(b, "{'id': '%d', 'name': 'MAKER MODEL', 'price': %d, 'position': %d},\n", 1000*i+n, 3000+n, n)
		}
		b.WriteString("]});</script>\n")
	},
	func(b *bytes.Buffer, i int) { // similar cars
		b.WriteString(`<div class="recommend-list">`)
		for n := range 4 {
			ref := 1000*i + n
			fmt.Fprintf(b, `<div class="recommend-item" data-veh="%d"><a href="/maker/model/xx%06d/id/%d/">`+
				`<img src="/images/%d.jpg" alt="SIMULATED"><p class="recommend-name">20%02d MAKER MODEL</p></a>`+
				`<p class="recommend-spec"><span>%d,000 km</span> / <span>1,500cc</span></p>`+
				`<p class="recommend-price">$%d,500</p></div>`+"\n", ref, ref, ref, ref, n+10, n+40, n+3)
		}
		b.WriteString("</div>\n")
	},
}
