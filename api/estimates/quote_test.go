package estimates

import (
	"net/http"
	"testing"

	"ushuru/api/apitest"
)

// TestADescribedCarBecomesAJob, with its prices in dollars.
func TestADescribedCarBecomesAJob(t *testing.T) {
	t.Parallel()
	s, p := newResource(t)
	const car = `{"make":"TOYOTA","modelCode":"NKE165","year":2013`
	ask := apitest.Ask{URL: "/v1/quote", Headers: map[string]string{"Prefer": "respond-async"}}
	ask.Body = car + `,"cfPriceJPY":1000000,"fobPriceUSD":5000,"fobPriceJPY":1,"jpyPerUSD":150}`
	got := apitest.Send(t, s.PostQuote, ask)
	var job struct{ ID string }
	if got.Decode(t, &job); !got.Has(202, `"kind":"quote"`) || got.Header.Get("Retry-After") != "2" {
		t.Fatalf("got %d %v %s", got.Status, got.Header, got.Body)
	}
	const want = `{"make":"TOYOTA","modelCode":"NKE165","year":2013,"fobPriceUSD":5000,"cfPriceUSD":6666.67}`
	if record, err := p.Jobs.Get(t.Context(), job.ID); err != nil || string(record.Input) != want {
		t.Errorf("the input is %s, %v, want %s", record.Input, err, want)
	}
	for rest, code := range map[string]string{
		`,"fobPriceJPY":900000}`: `"code":"jpy_rate_missing"`, `,"jpyPerUSD":1}`: `"param":"jpyPerUSD"`, `,"rate":1}`: `"code":"rate_invalid"`,
		`,"cfPriceJPY":"much","jpyPerUSD":150}`: `"param":"cfPriceJPY"`, `,"fobPriceUSD":"6180"}`: `"param":"fobPriceUSD"`,
		`,"engine_cc":"big"}`: `"param":"engine_cc"`, `,"landing":"soon"}`: `"param":"landing"`,
	} {
		if got := apitest.Send(t, s.PostQuote, apitest.Ask{URL: "/v1/quote", Body: car + rest}); !got.Has(http.StatusBadRequest, code) {
			t.Errorf("%s: got %d %s, want %s", rest, got.Status, got.Body, code)
		}
	}
}
