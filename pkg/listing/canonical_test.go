package listing

import (
	"testing"

	"ushuru/pkg/listing/sites"
)

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
		"https://autoparts.beforward.jp/search/":                  sites.URLUnsupported,
		"https://blog.beforward.jp/a":                             sites.URLUnsupported,
		"https://corporate.beforward.jp/":                         sites.URLUnsupported,
		"https://www.beforward.jp/stocklist/make=1/model=132/":    sites.URLUnsupported,
		"https://www.beforward.jp/sw/stocklist":                   sites.URLUnsupported,
		"https://sp.beforward.jp/stocklist/keyword=Toyota%20Axio": sites.URLUnsupported,
		"https://www.beforward.jp/":                               sites.URLUnsupported,
		"https://www.beforward.jp/fr":                             sites.URLUnsupported,
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
		"https://sbtjapan.com/used-cars/a%2Fb/c/dqw2874?x", "https://www.tc-v.com/used_car/a%20b/%3F/43847281?p&p", "https://carused.jp/car-list/detail/a/b/c/%2F",
		"https://carfromjapan.com/cheap-used-a-2015-for-sale-0123456789abcdef01234567x", "https://www.goo-net-exchange.com/usedcars/A/B/700056069430260821001",
		"https://www.cardealpage.com/fr/sw/a/b/20331972", "https://autocj.co.jp/usedcar?stock=%26&stock=2", "https://autocj.co.jp/usedcar?stock=%'6&stock=2", "https://www.picknbuy24.com/detail?refno=1",
		"https://www.nikkyocars.com/m/stock/stock-view.asp?lang=&code=1", "http://auctions.aleado.com/auctions/?s&p=project%2Flot&id=1", "https://jpauc.com/auction/detail/1/x",
		"https://prestigemotorsport.com.au/%C3%A9?car_id=1", "http://autocj.co.jp/usedcar?stock= #0", "https://a.example.com/?a=\u00a0&utm_a=1", "https://www.jpctrade.com/1234-japan-used-%E3%82%A2.html",
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

func TestCanonicalOfEverySite(t *testing.T) {
	for raw, want := range map[string]string{
		"https://sbtjapan.com/used-cars/dqw2874/?d_country=26&d_port=52":                                         "https://www.sbtjapan.com/used-cars/DQW2874",
		"http://www.sbtjapan.com/used-cars/Toyota/raum/WB2692/":                                                  "https://www.sbtjapan.com/used-cars/toyota/raum/WB2692",
		"https://www.tc-v.com/used_car/Nissan/cima/43847281?ref=x":                                               "https://www.tc-v.com/used_car/nissan/cima/43847281/",
		"https://www.tradecarview.com/used_car/nissan/cima/43847281/":                                            "https://www.tradecarview.com/used_car/nissan/cima/43847281/",
		"https://www.carfromjapan.com/cheap-used-toyota-prius-2015-for-sale-0123456789abcdef01234567?currency=x": "https://carfromjapan.com/cheap-used-toyota-prius-2015-for-sale-0123456789abcdef01234567",
		"https://www.goo-net-exchange.com/usedcars/TOYOTA/LAND_CRUISER/700056069430260821001?x=1":                "https://www.goo-net-exchange.com/usedcars/TOYOTA/LAND_CRUISER/700056069430260821001/",
		"http://www.cardealpage.com/sw/toyota/succeed%20van/20331972/?x=1":                                       "https://www.cardealpage.com/toyota/succeed%20van/20331972/",
		"https://www.carused.jp/car-list/detail/honda/fit/x/CU1/?utm_source=a":                                   "https://carused.jp/car-list/detail/honda/fit/x/CU1",
		"https://autocj.co.jp/usedcar/?lang=en&stock=R00019100":                                                  "https://autocj.co.jp/usedcar?stock=R00019100",
		"https://www.picknbuy24.com/detail/?page=2&refno=0122222081":                                             "https://www.picknbuy24.com/detail/?refno=0122222081",
		"http://www.picknbuy24.com/detail/toyota/prius/0122340268.html?x=1":                                      "https://www.picknbuy24.com/detail/toyota/prius/0122340268.html",
		"http://japanesecartrade.com/2766078-japan-used-toyota-crown-sedan-car-2004.html?a=1":                    "https://www.japanesecartrade.com/2766078-japan-used-toyota-crown-sedan-car-2004.html",
		"https://www.jpctrade.com/2766078-japan-used-toyota-crown-2004.html#x":                                   "https://www.jpctrade.com/2766078-japan-used-toyota-crown-2004.html",
		"https://www.nikkyocars.com/m/stock/stock-view.asp?code=308741&lang=en":                                  "https://www.nikkyocars.com/n2014/stock/stock-view.asp?lang=en&code=308741",
		"http://www.jpauc.com/auction/past/detail/344009098?from=1":                                              "https://jpauc.com/auction/past/detail/344009098",
		"http://auctions.aleado.com/auctions/?s&p=project/lot&id=976641290&back=1":                               "http://auctions.aleado.com/auctions/?p=project/lot&id=976641290&s",
		"https://auctions.zervtek.com/auctions/?p=project/statslot&id=5":                                         "https://auctions.zervtek.com/auctions/?p=project/statslot&id=5",
		"https://www.prestigemotorsport.com.au/auction-vehicle-display/?car_id=abc&x=1":                          "https://prestigemotorsport.com.au/auction-vehicle-display/?car_id=abc",
		"https://carvector.com/stat/mazda/demio/0001?tab=2":                                                      "https://carvector.com/stat/mazda/demio/0001",
		"https://www.enhanceauto.com/car/1?id=2":                                                                 "https://www.enhanceauto.com/car/1?id=2",
	} {
		got, err := Canonical(raw, false)
		if err != nil || got != want {
			t.Errorf("Canonical(%q)\n got %q, %v\nwant %q", raw, got, err, want)
		}
		if again, err := Canonical(got, false); err != nil || again != got {
			t.Errorf("Canonical(%q) = %q, %v", got, again, err)
		}
	}
}

func TestCanonicalRefusesTheListsOfEverySite(t *testing.T) {
	for _, raw := range []string{
		"https://www.sbtjapan.com/used-cars/search?make_id=2&page=1", "https://www.sbtjapan.com/used-cars/toyota/prius/", "https://www.tc-v.com/",
		"https://carfromjapan.com/cheap-used-toyota-prius-for-sale", "https://carfromjapan.com/specifications/toyota/prius/0123456789abcdef01234567",
		"https://www.goo-net-exchange.com/usedcars/NISSAN/DATSUN_TRUCK/", "https://www.goo-net-exchange.com/usedcars/NISSAN/DATSUN_TRUCK/thumb.html",
		"https://www.cardealpage.com/full/", "https://www.cardealpage.com/fr/", "https://carused.jp/car-list/", "https://autocj.co.jp/", "https://www.picknbuy24.com/",
		"https://www.japanesecartrade.com/", "https://jpauc.com/auction",
	} {
		_, err := Canonical(raw, false)
		wantOutcome(t, err, sites.URLUnsupported)
	}
}
