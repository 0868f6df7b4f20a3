package tasks

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"net/url"
	"testing"
)

func in(t *testing.T, raw string) bool {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return hasTokenInQuery(u) || hasTokenInPath(u)
}

func TestTokensAreRecognized(t *testing.T) {
	for _, url := range []string{
		"https://cars.example/1?session=1", "https://cars.example/1?SID=x", "https://cars.example/1?a=b&token=c",
		"https://cars.example/1?accessToken=c", "https://cars.example/1?X-Amz-Signature=ab", "https://cars.example/1?sig=x",
		"https://cars.example/1;jsessionid=1", "https://cars.example/1?PHPSESSID=1", "https://cars.example/1?api_key=1",
		"https://cars.example/1?%74oken=1", "https://cars.example/1?userToken=c", "https://cars.example/1?my-auth=1", "https://cars.example/1?x=1;token=2",
		"https://cars.example/s/123e4567-e89b-12d3-a456-426614174000", "https://cars.example/1?eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
	} {
		if !in(t, url) {
			t.Errorf("%s has a token", url)
		}
	}
	random := rand.NewChaCha8([32]byte{}) // the same values at each run
	missed, all := 0, 0
	for range 2000 {
		for _, n := range []int{16, 32} {
			data := make([]byte, n)
			_, _ = random.Read(data)
			for _, text := range []string{hex.EncodeToString(data), base64.RawURLEncoding.EncodeToString(data)} {
				if url := "https://cars.example/view/" + text; !in(t, url) {
					missed++
				}
				if url := "https://cars.example/view?n=" + text; !in(t, url) {
					missed++
				}
				all += 2
			}
		}
	}
	if missed*100 > all {
		t.Errorf("%d of %d random values were not recognized", missed, all)
	}
}

// The URLs of listings are shared between keys, or each key would have to fetch them.
func TestListingsCarryNoToken(t *testing.T) {
	for _, url := range []string{
		"https://www.beforward.jp/toyota/corolla-fielder/cb123456/id/1234567/",
		"https://www.tc-v.com/used_car/subaru/legacy%20touring%20wagon/43814804/",
		"https://www.goo-net-exchange.com/usedcars/TOYOTA/COROLLA_FIELDER/700056069430260821001/",
		"https://www.nikkyocars.com/n2014/stock/stock-view.asp?lang=en&code=308741",
		"https://www.cardealpage.com/fr/sw/toyota/mark-x/20331972",
		"https://jpauc.com/auction/detail/1/x", "https://autocj.co.jp/usedcar?stock=2",
		"https://cars.example/2016-Toyota-CorollaFielder-Hybrid-G-AeroTourer-W-B-NKE165-1234567-88400km-1500cc",
		"https://cars.example/stock?make=TOYOTA&model=LAND+CRUISER+PRADO&chassis=GDJ150-0012345&page=2",
		"https://www.jpctrade.com/1234-japan-used-%E3%82%A2.html", "https://cars.example/JTDKB20U093456789",
		"https://cars.example/ToyotaCorollaFielderHybridGAeroTourer2016/TestDispatcherOnEveryRedis", "https://cars.example/?token=", "https://cars.example/design/monkey/keyless-entry",
	} {
		if in(t, url) {
			t.Errorf("%s has no token", url)
		}
	}
}
