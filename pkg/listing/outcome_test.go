package listing

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/fetch"
)

func TestOutcomes(t *testing.T) {
	full := fixture(t, "beforward.html")
	cases := []struct {
		name      string
		status    int
		url, body string
		code      string
		temporary bool
	}{
		{"challenge with status 202", 202, beForwardURL, `<script>window.gokuProps={}</script>`, Blocked, false},
		{"status 202 whatever it holds", 202, beForwardURL, full, Blocked, false},
		{"challenge with status 200", 200, beForwardURL, `<div id="challenge-container"></div><script src="https://x.token.awswaf.com/challenge.js"></script>`, Blocked, false},
		{"Cloudflare", 200, beForwardURL, `<title>Just a moment...</title>`, Blocked, false},
		{"redirected to a captcha", 200, "https://cars.example.com/recaptcha?url=x", `<p>prove</p>`, Blocked, false},
		{"forbidden", 403, beForwardURL, `no`, Blocked, false},
		{"method", 405, beForwardURL, ``, Blocked, false},
		{"too many requests", 429, beForwardURL, ``, Blocked, true},
		{"busy", 503, beForwardURL, ``, Blocked, true},
		{"broken", 500, beForwardURL, ``, fetch.FetchFailed, true},
		{"bad gateway", 502, beForwardURL, ``, fetch.FetchFailed, true},
		{"redirect without target", 302, beForwardURL, ``, fetch.FetchFailed, false},
		{"gone", 410, beForwardURL, full, Gone, false},
		{"not found", 404, beForwardURL, ``, Gone, false},
		{"gone in words", 200, beForwardURL, `<h1>This vehicle is no longer available</h1>`, Gone, false},
		{"sold in words", 200, beForwardURL, `<h1>Sorry, this vehicle has already been sold</h1>`, Sold, false},
		{"gone in the title", 200, beForwardURL, `<title>Page Not Found</title><p>Sorry</p>`, Gone, false},
		{"home page", 200, "https://cars.example.com/", `<title>Best cars</title><p>Fuel: any</p>`, NotAListing, false},
		{"shell drawn by script", 200, dealerURL, `<div id="root"></div><script src="/app.js"></script>`, NotAListing, false},
		{"login", 200, "https://cars.example.com/login?next=1", `<form></form>`, NotAListing, false},
		{"empty", 200, dealerURL, ``, NotAListing, false},
		{"title only", 200, "https://cars.example.com/nissan/note/1", `<title>2015 NISSAN NOTE DBA-E12</title>`, NotAListing, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			page := &fetch.Page{URL: c.url, FinalURL: c.url, Status: c.status, Header: http.Header{"Retry-After": {"90"}}, Body: []byte(c.body)}
			_, err := Read(t.Context(), page)
			failure := wantOutcome(t, err, c.code)
			if failure.Retryable != c.temporary {
				t.Errorf("temporary %v", failure.Retryable)
			}
			if c.code == Blocked && c.temporary && failure.Wait != 90*time.Second {
				t.Errorf("RetryAfter %v", failure.Wait)
			}
		})
	}
}

func TestNoListingWhereOneIsExpected(t *testing.T) {
	small := `<title>Cars</title><p>Welcome</p>`
	large := `<title>Cars</title><p>` + strings.Repeat("Welcome. ", 3000) + `</p>`
	for name, c := range map[string]struct {
		asked, final, body string
		code, containsAny  string
	}{
		"a small page of BE FORWARD":     {beForwardURL, beForwardURL, small, Blocked, "too small"},
		"a large page of BE FORWARD":     {beForwardURL, beForwardURL, large, NotAListing, "one car"},
		"a small page of another":        {dealerURL, dealerURL, small, NotAListing, "one car"},
		"led to the home page":           {"https://cars.example.com/note/1", "https://cars.example.com/", large, Blocked, "redirected"},
		"led to the list above":          {"https://cars.example.com/note/1", "https://cars.example.com/note?page=1", large, Blocked, "redirected"},
		"led to the address with a mark": {"https://cars.example.com/note/1", "https://cars.example.com/note/1/?seen=1", large, NotAListing, "one car"},
		"led to the members' door":       {"https://cars.example.com/note/1", "https://cars.example.com/login", large, NotAListing, "members"},
		"drawn by a script":              {dealerURL, dealerURL, `<div id="root"></div><script src="/app.js"></script>`, NotAListing, "browser"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), &fetch.Page{URL: c.asked, FinalURL: c.final, Status: http.StatusOK, Body: []byte(c.body)})
			if failure := wantOutcome(t, err, c.code); !strings.Contains(failure.Message, c.containsAny) {
				t.Errorf("%q does not say %q", failure.Message, c.containsAny)
			}
		})
	}
}

func TestCaptchaWidgetOnACompletePageIsNoBlock(t *testing.T) {
	page := fixture(t, "beforward.html")
	if !strings.Contains(page, "g-recaptcha") {
		t.Fatal("the fixture has no captcha widget")
	}
	read(t, strings.Replace(page, "</body>", `<script src="/recaptcha?url=x"></script></body>`, 1), beForwardURL)
}

func FuzzRead(f *testing.F) {
	f.Add(`<title>2015 NISSAN NOTE</title><dl><dt>Year<dd>2015<dt>Fuel<dd>Petrol`, "https://c.example.com/nissan/note/1")
	f.Add(schemaPage(`{"@type":"Car","brand":["A"],"offers":[{"@id":"#a"}],"image":[{}],"model":{"name":1}}`), "")
	f.Add(`<ul id="bread"><a href="/make=1/model=2">x</a></ul><table class="specification"><th>Fuel<td>x</table><p class="vehicle-price">$5`, "")
	f.Fuzz(func(t *testing.T, body, url string) {
		listing, err := Read(t.Context(), FromFile([]byte(body), url))
		if err != nil {
			return
		}
		if listing.Car.Images == nil || listing.Car.Make == "" && listing.Car.Model == "" {
			t.Errorf("%+v", listing.Car)
		}
	})
}

func TestPagesThatAreNoListings(t *testing.T) {
	t.Parallel()
	priced := strings.NewReplacer("PRICE", "<tr><th>FOB Price</th><td>US$ 2,350</td></tr><tr><th>Mileage</th><td>81,000 km</td></tr>", "OTHER", "").Replace(ownCar)
	bare := strings.NewReplacer("PRICE", "", "OTHER", "").Replace(ownCar)
	head := func(page, title string) string {
		return strings.NewReplacer("<title>2012 TOYOTA PASSO</title>", "<title>"+title+"</title>", "<h1>2012 TOYOTA PASSO</h1>", "<h1>"+title+"</h1>").Replace(page)
	}
	other := strings.Replace(strings.Replace(priced, "<title>2012 TOYOTA PASSO</title>", "<title>Used car</title>", 1), "<h1>2012 TOYOTA PASSO</h1>", "NOTICE", 1)
	for name, c := range map[string]struct{ page, code string }{
		"rental":                {head(priced, "Toyota Passo for rent in Dar es Salaam"), NotAListing},
		"rental by the day":     {head(priced, "Car rental: Toyota Passo"), NotAListing},
		"rental in Kiswahili":   {head(priced, "Toyota Passo ya kukodisha"), NotAListing},
		"rental in French":      {head(priced, "Location de voiture Toyota Passo"), NotAListing},
		"hire":                  {head(bare, "Toyota Passo for hire"), NotAListing},
		"engine":                {head(bare, "Toyota Passo 1KR engine for sale"), NotAListing},
		"gearbox":               {head(bare, "Toyota Passo gearbox assembly"), NotAListing},
		"half cut":              {head(bare, "Toyota Passo half-cut"), NotAListing},
		"headlight":             {head(bare, "Toyota Passo headlight used"), NotAListing},
		"parts":                 {head(bare, "Toyota Passo spare parts"), NotAListing},
		"register":              {head(bare, "Vehicle check: Toyota Passo"), NotAListing},
		"VIN decoder":           {head(bare, "VIN decoder Toyota Passo KGC30"), NotAListing},
		"number plate":          {head(bare, "Number plate T 123 ABC, Toyota Passo"), NotAListing},
		"review":                {head(bare, "Toyota Passo review"), NotAListing},
		"buying guide":          {head(bare, "Buying guide: Toyota Passo 2012"), NotAListing},
		"comparison":            {head(bare, "Toyota Passo vs Nissan March"), NotAListing},
		"blog":                  {strings.Replace(bare, "<title>", `<meta property="og:type" content="article"><title>`, 1), NotAListing},
		"gone":                  {strings.Replace(other, "NOTICE", "<p>This vehicle is no longer available.</p><h2>Similar car</h2>", 1), Gone},
		"gone, similar in full": {strings.Replace(other, "NOTICE", "<h1>Sorry, we could not find this car</h1>", 1), Gone},
		"not available":         {strings.Replace(other, "NOTICE", "<h2>The vehicle is not available</h2>", 1), Gone},
		"expired":               {strings.Replace(other, "NOTICE", "<p>This listing has expired</p>", 1), Gone},
		"sold, similar in full": {strings.Replace(other, "NOTICE", "<p>This car has been sold.</p>", 1), Sold},
		"sold out":              {strings.Replace(other, "NOTICE", "<h1>SOLD OUT</h1>", 1), Sold},
		"sold in Japanese":      {strings.Replace(other, "NOTICE", "<h1>売約済</h1>", 1), Sold},
	} {
		_, err := Read(t.Context(), FromFile([]byte(c.page), "https://cars.example.com/stock/70021"))
		failure := wantOutcome(t, err, c.code)
		if failure != nil && c.code == NotAListing && !strings.Contains(failure.Message, `"html"`) {
			t.Errorf("%s: %q offers nothing", name, failure.Message)
		}
	}
	two := strings.NewReplacer("<title>2012 TOYOTA PASSO</title>", "<title>Our cars</title>", "<h1>2012 TOYOTA PASSO</h1>", "").Replace(priced)
	two += strings.NewReplacer("PASSO", "VITZ", "KGC30", "NCP91", "2012", "2009", "996cc", "1,490cc", "2,350", "1,800").Replace(two)
	_, err := Read(t.Context(), FromFile([]byte(two), "https://cars.example.com/stock/70021"))
	wantOutcome(t, err, SeveralCars)
}

func TestASoldCarThatIsStillDescribedHasNoPrice(t *testing.T) {
	t.Parallel()
	page := strings.NewReplacer("PRICE", "<tr><th>FOB Price</th><td>US$ 2,350</td></tr>", "OTHER", "").Replace(ownCar)
	for name, sold := range map[string]string{
		"heading":      strings.Replace(page, "<h1>2012 TOYOTA PASSO", "<h1>2012 TOYOTA PASSO SOLD OUT", 1),
		"brackets":     strings.Replace(page, "<h1>2012 TOYOTA PASSO", "<h1>[SOLD] 2012 TOYOTA PASSO", 1),
		"title":        strings.Replace(page, "<title>2012 TOYOTA PASSO", "<title>SOLD: 2012 TOYOTA PASSO", 1),
		"ribbon":       strings.Replace(page, "<h1>", `<span class="ribbon">SOLD</span><h1>`, 1),
		"under offer":  strings.Replace(page, "<h1>", `<div>Under Offer</div><h1>`, 1),
		"reserved":     strings.Replace(page, "<h1>", `<b>Reserved</b><h1>`, 1),
		"sentence":     strings.Replace(page, "<h1>", `<p>Sorry, this car has been sold.</p><h1>`, 1),
		"price":        strings.Replace(page, "US$ 2,350", "SOLD", 1),
		"in Japanese":  strings.Replace(page, "<h1>", `<p>売り切れ</p><h1>`, 1),
		"in Kiswahili": strings.Replace(page, "<h1>", `<p>Imeuzwa</p><h1>`, 1),
	} {
		l := read(t, sold, shapeURL)
		if !l.Sold || l.Car.FOBPriceUSD != nil || l.Car.AskingPrice != nil || l.Car.Model != "PASSO" {
			t.Errorf("%s: sold %v, price %s", name, l.Sold, amountOf(l.Car.FOBPriceUSD))
		}
	}
	for name, open := range map[string]string{
		"condition":      strings.Replace(page, "OTHER", "", 1) + "<p>If the car has been sold, we refund your deposit.</p>",
		"seller":         page + "<p>This unit is sold by Example Motors.</p>",
		"another's card": page + `<div class="similar"><span>SOLD</span></div>`,
		"menu":           page + `<nav><span>Sold</span></nav>`,
		"rights":         page + `<p>All rights reserved</p>`,
	} {
		if l := read(t, open, shapeURL); l.Sold || amountOf(l.Car.FOBPriceUSD) != "2350" {
			t.Errorf("%s: sold %v, price %s", name, l.Sold, amountOf(l.Car.FOBPriceUSD))
		}
	}
}

func TestWhoseDollarsAndWhichCountry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ host, price, location, fob, asking, country, codes string }{
		{"cars.example.com", "US$ 2,350", "", "2350", "USD 2350", "", ""},
		{"cars.example.com", "USD 2,350", "Yokohama", "2350", "USD 2350", "JAPAN", ""},
		{"cars.example.com", "2,350 USD", "", "2350", "USD 2350", "", ""},
		{"cars.example.com", "$2,350", "", "null", "null", "", "price_currency_unknown"},
		{"www.carused.jp", "$2,350", "", "2350", "USD 2350", "", ""},
		{"www.nikkyocars.com", "$2,350", "", "2350", "USD 2350", "", ""},
		{"cars.example.com.au", "$2,350", "", "null", "AUD 2350", "AUSTRALIA", "outside_japan"},
		{"cars.example.co.nz", "$2,350", "", "null", "NZD 2350", "NEW ZEALAND", "outside_japan"},
		{"cars.example.ca", "$2,350", "", "null", "CAD 2350", "CANADA", "outside_japan"},
		{"cars.example.com.sg", "$2,350", "", "null", "SGD 2350", "SINGAPORE", "outside_japan"},
		{"cars.example.com.hk", "$2,350", "", "null", "HKD 2350", "HONG KONG", "outside_japan"},
		{"cars.example.com", "A$ 2,350", "Sydney", "null", "AUD 2350", "AUSTRALIA", "outside_japan"},
		{"cars.example.com", "HK$ 2,350", "", "null", "HKD 2350", "", ""},
		{"cars.example.com", "£2,350", "London", "null", "GBP 2350", "UNITED KINGDOM", "outside_japan"},
		{"cars.example.ae", "US$ 2,350", "Dubai", "null", "USD 2350", "UNITED ARAB EMIRATES", "outside_japan retail_price"},
		{"cars.example.com", "US$ 2,350", "United Arab Emirates", "2350", "USD 2350", "UNITED ARAB EMIRATES", "outside_japan"},
		{"cars.example.com", "US$ 2,350", "Bangkok, Thailand", "2350", "USD 2350", "THAILAND", "outside_japan"},
		{"cars.example.co.za", "US$ 2,350", "Durban", "null", "USD 2350", "SOUTH AFRICA", "outside_japan retail_price"},
		{"cars.example.com", "US$ 2,350", "Texas, USA", "null", "USD 2350", "UNITED STATES", "outside_japan retail_price"},
		{"cars.example.com", "$2,350", "Houston, TX, US", "null", "USD 2350", "UNITED STATES", "outside_japan retail_price"},
		{"cars.example.com", "US$ 2,350</td></tr><tr><td>Prices are FOB Houston</td><td>", "Texas, USA", "2350", "USD 2350", "UNITED STATES", "outside_japan"},
		{"cars.example.com", "US$ 2,350</td></tr><tr><td>With a key fob, plus sales tax</td><td>", "Bangkok, Thailand", "null", "USD 2350", "THAILAND", "outside_japan retail_price"},
		{"cars.example.com", "US$ 2,350</td></tr><tr><td><script>OTR = 'plus sales tax'</script></td><td>", "Bangkok, Thailand", "2350", "USD 2350", "THAILAND", "outside_japan"},
		{"cars.example.com", "US$ 2,350", "Lyon, FR", "2350", "USD 2350", "FRANCE", "outside_japan"},
		{"cars.example.com", "US$ 2,350", "Dar es Salaam", "2350", "USD 2350", "TANZANIA", "in_tanzania"},
		{"cars.example.co.tz", "TSh 12,350,000", "", "null", "TZS 12350000", "TANZANIA", "in_tanzania"},
		{"cars.example.com", "KES 2,350", "Mombasa", "null", "KES 2350", "KENYA", "outside_japan"},
	} {
		row := "<tr><th>Price</th><td>" + c.price + "</td></tr>"
		if c.location != "" {
			row += "<tr><th>Location</th><td>" + c.location + "</td></tr>"
		}
		l := read(t, strings.NewReplacer("PRICE", row, "OTHER", "").Replace(ownCar), "https://"+c.host+"/toyota/passo/70021")
		asking := "null"
		if l.Car.AskingPrice != nil {
			asking = l.Car.Currency + " " + amountOf(l.Car.AskingPrice)
		}
		var codes []string
		for _, w := range l.Warnings {
			codes = append(codes, w.Code)
		}
		if got := strings.Join(codes, " "); amountOf(l.Car.FOBPriceUSD) != c.fob || asking != c.asking || l.Car.LocatedIn != c.country || got != c.codes {
			t.Errorf("%s %s %s: FOB %s, asking %s, in %q, warnings %s", c.host, c.price, c.location, amountOf(l.Car.FOBPriceUSD), asking, l.Car.LocatedIn, got)
		}
	}
}

func TestDoubtsAboutMoneyAreWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rows, other, code string }{
		"price":      {"<tr><th>FOB Price</th><td>US$ 2,350</td></tr><tr><th>Vehicle Price</th><td>US$ 2,900</td></tr>", "", "several_prices"},
		"engine":     {"<tr><th>Displacement</th><td>1,490cc</td></tr>", "", "engine_differs"},
		"code":       {"<tr><th>Chassis Code</th><td>DBA-KGC35</td></tr>", "", "model_code_differs"},
		"year":       {"<tr><th>Year of manufacture</th><td>2013</td></tr>", "", "manufacture_differs"},
		"fuel":       {"<tr><th>Fuel</th><td>Petrol</td></tr><tr><th>Fuel Type</th><td>Diesel</td></tr>", "", "fuel_differs"},
		"frame":      {"<tr><th>Chassis No.</th><td>NCP91-1234567</td></tr>", "", "code_and_frame_differ"},
		"late":       {"<tr><th>Registration</th><td>2010/1</td></tr>", "", "manufacture_after_registration"},
		"microdata":  {"<tr><th>FOB Price</th><td>US$ 2,350</td></tr>", schemaPage(`{"@type":"Car","brand":"Toyota","model":"Passo","offers":{"price":2500,"priceCurrency":"USD"}}`)[len("<title>x</title>"):], "price_differs"},
		"other year": {"", "", ""},
	} {
		l := read(t, strings.NewReplacer("PRICE", c.rows, "OTHER", c.other).Replace(ownCar), shapeURL)
		if c.code == "" {
			if len(l.Warnings) != 0 {
				t.Errorf("%s: %+v", name, l.Warnings)
			}
			continue
		}
		found := false
		for _, w := range l.Warnings {
			found = found || w.Code == c.code && len(w.Values) > 0 && w.Level != "" && strings.HasSuffix(w.Message, ".")
		}
		if !found {
			t.Errorf("%s: %+v, want %s", name, l.Warnings, c.code)
		}
	}
}

// The refusal of a page that could be a real dealer's offers what to do next.
func TestRefusalsOfferWhatToDoNext(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		"<p>Welcome</p>", "<title>2012 TOYOTA PASSO</title><table><tr><th>Make</th><td>TOYOTA</td></tr></table>",
		"<html><script>x()</script></html>", "<title>Just a moment</title><p>Checking</p>", "<h1>Toyota Passo</h1><p>Great car, call us</p>",
	} {
		_, err := Read(t.Context(), FromFile([]byte(page), "https://cars.example.com/stock/1"))
		failure := &fetch.Error{}
		ok := errors.As(err, &failure)
		if !ok || !strings.Contains(failure.Message, `"html"`) {
			t.Errorf("%q: %v", page, err)
		}
	}
	_, err := Read(t.Context(), FromFile([]byte("<title>2012 TOYOTA PASSO</title><table><tr><th>Make</th><td>TOYOTA</td></tr></table>"), "https://cars.example.com/stock/1"))
	if err == nil || !strings.Contains(err.Error(), "not found: chassis code or engine size") {
		t.Errorf("%v", err)
	}
}
