package listing

import "testing"

func TestCanonical(t *testing.T) {
	const car = "https://www.beforward.jp/toyota/vitz/sc123456/id/7654321/"
	for raw, want := range map[string]string{
		car: car,
		"http://WWW.beforward.jp/Toyota/Vitz/SC123456/id/7654321":                           car,
		"https://sp.beforward.jp/toyota/vitz/sc123456/id/7654321/":                          car,
		"https://beforward.jp/toyota/vitz/sc123456/id/7654321/":                             car,
		"https://www.beforward.jp/sw/toyota/vitz/sc123456/id/7654321/":                      car,
		"https://www.beforward.jp/ge/toyota/vitz/sc123456/id/7654321/":                      car,
		"https://www.beforward.jp/toyota/vitz/sc123456/id/7654321/slider":                   car,
		"https://www.beforward.jp/toyota/vitz/sc123456/id/7654321/?tp_country_id=125#x":     car,
		"https://www.beforward.jp/toyota/vitz/sc123456/id/7654321/?utm_source=a":            car,
		"https://www.beforward.jp/toyota/vitz/sc123456/":                                    "https://www.beforward.jp/toyota/vitz/sc123456/",
		"https://Cars.Example.com/Stock/1?id=5&utm_source=x&gclid=y&FBCLID=z&b=%20#photos":  "https://cars.example.com/Stock/1?id=5&b=%20",
		"https://cars.example.com?utm%5Fsource=x":                                           "https://cars.example.com/",
		"https://cars.example.com/a?":                                                       "https://cars.example.com/a",
		"https://www.tc-v.com/used_car/subaru/legacy%20touring%20wagon/43814804/":           "https://www.tc-v.com/used_car/subaru/legacy%20touring%20wagon/43814804/",
		"https://notbeforward.jp/stocklist/":                                                "https://notbeforward.jp/stocklist/",
		"https://www.nikkyocars.com/n2014/stock/stock-view.asp?lang=en&code=308741&refno=1": "https://www.nikkyocars.com/n2014/stock/stock-view.asp?lang=en&code=308741",
	} {
		got, err := Canonical(raw, false)
		if err != nil || got != want {
			t.Errorf("Canonical(%q)\n got %q, %v\nwant %q", raw, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for raw, code := range map[string]string{
		"https://autoparts.beforward.jp/search/":                  URLUnsupported,
		"https://blog.beforward.jp/a":                             URLUnsupported,
		"https://corporate.beforward.jp/":                         URLUnsupported,
		"https://www.beforward.jp/stocklist/make=1/model=132/":    URLUnsupported,
		"https://www.beforward.jp/sw/stocklist":                   URLUnsupported,
		"https://sp.beforward.jp/stocklist/keyword=Toyota%20Axio": URLUnsupported,
		"https://www.beforward.jp/":                               URLUnsupported,
		"https://www.beforward.jp/fr":                             URLUnsupported,
		"http://127.0.0.1/toyota/":                                "url_forbidden",
		"nonsense":                                                "url_invalid",
	} {
		_, err := Canonical(raw, false)
		wantOutcome(t, err, code)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		"https://www.beforward.jp/sw/fr/toyota/vitz/sc123456/id/7654321/slider?x=1", "https://a.example.com/?utm_a=1&&b=%zz",
		"http://127.0.0.1:80/%2e%2e/a b", "https://www.beforward.jp//x/%2Fstocklist",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		once, err := Canonical(raw, true)
		if err != nil {
			return
		}
		if twice, err := Canonical(once, true); err != nil || twice != once {
			t.Errorf("%q → %q → %q, %v", raw, once, twice, err)
		}
	})
}

func TestFetchURLAsksForTanzania(t *testing.T) {
	for canonical, want := range map[string]string{
		"https://www.beforward.jp/toyota/vitz/sc123456/id/7654321/": "https://www.beforward.jp/toyota/vitz/sc123456/id/7654321/?tp_country_id=40",
		"https://www.beforward.jp/toyota/vitz/sc123456/":            "https://www.beforward.jp/toyota/vitz/sc123456/",
		"https://cars.example.com/stock/1?id=5":                     "https://cars.example.com/stock/1?id=5",
		"%":                                                         "%",
	} {
		got := FetchURL(canonical)
		if got != want {
			t.Errorf("FetchURL(%q) = %q, want %q", canonical, got, want)
		}
		if back, err := Canonical(got, false); canonical != "%" && (err != nil || back != canonical) {
			t.Errorf("Canonical(%q) = %q, %v", got, back, err)
		}
	}
}
