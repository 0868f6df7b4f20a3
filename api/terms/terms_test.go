package terms

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// now is the time of all requests of these tests: a day of which Dar es Salaam has the next.
var now = time.Date(2026, 11, 25, 21, 30, 0, 0, time.UTC)

// day is a day after today in Dar es Salaam, which is 26 November 2026.
func day(n int) string { return now.In(localtime.Zone).AddDate(0, 0, n).Format(time.DateOnly) }

func parse(t *testing.T, body string) (vehicle.Terms, []string, error) {
	t.Helper()
	var req Request
	if err := json.Unmarshal([]byte("{"+body+"}"), &req); err != nil {
		t.Fatal(err)
	}
	return req.Parse(now)
}

// TestTermsInABodyAreThoseInAQuery: terms that were read can be written into the query of
// a URL, where they are read as the same.
func TestTermsInABodyAreThoseInAQuery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, query string }{
		"none":                     {``, ``},
		"null":                     {`"rate":null,"landing":null,"costs":null,"target":null,"byMonth":null,"destination":null`, ``},
		"a rate":                   {`"rate":2700.50`, `rate=2700.5`},
		"the lowest rate":          {`"rate":500`, `rate=500`},
		"the highest rate":         {`"rate":10000`, `rate=10000`},
		"a rate among the costs":   {`"costs":{"exchangeRate":2700}`, `rate=2700`},
		"the same rate twice":      {`"rate":2700,"costs":{"exchangeRate":2700.00}`, `rate=2700`},
		"a day":                    {`"landing":"` + day(30) + `"`, `landing=` + day(30) + `..` + day(30)},
		"yesterday":                {`"landing":"` + day(-1) + `"`, `landing=` + day(-1) + `..` + day(-1)},
		"the last day":             {`"landing":"` + day(550) + `"`, `landing=` + day(550) + `..` + day(550)},
		"two days":                 {`"landing":{"from":"` + day(10) + `","to":"` + day(20) + `"}`, `landing=` + day(10) + `..` + day(20)},
		"the first of two days":    {`"landing":{"from":"` + day(10) + `"}`, `landing=` + day(10) + `..` + day(10)},
		"Dar es Salaam":            {`"destination":"Dar-es-Salaam, Tanzania"`, ``},
		"no costs":                 {`"costs":{}`, ``},
		"figures":                  {`"costs":{"freightUSD":1300.5,"agentTZS":350000,"shippingM3":11.09,"daysInPort":0,"plates":false}`, `costs={"freightUSD":1300.5,"agentTZS":350000,"shippingM3":11.09,"daysInPort":0,"plates":false}`},
		"a cost of nothing":        {`"costs":{"portTZS":0}`, `costs={"portTZS":0}`},
		"a port among the costs":   {`"costs":{"destination":"dar"}`, ``},
		"a target":                 {`"target":{"onTheRoadTZS":40000000}`, `target=40000000`},
		"by month":                 {`"byMonth":true`, `byMonth=true`},
		"not by month":             {`"byMonth":false`, ``},
		"all that a car may cost":  {`"costs":{"bankUSD":3000000,"otherTZS":10000000000}`, `costs={"bankUSD":3000000,"otherTZS":10000000000}`},
		"all that a port may keep": {`"costs":{"daysInPort":365}`, `costs={"daysInPort":365}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, ignored, err := parse(t, c.body)
			if err != nil || ignored != nil {
				t.Fatalf("%v, ignored %q", err, ignored)
			}
			query, err := url.ParseQuery(request.Representation{Terms: read}.QueryString())
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, 0, len(query))
			for _, name := range slices.Sorted(maps.Keys(query)) {
				got = append(got, name+"="+query.Get(name))
			}
			if text := strings.Join(got, "&"); text != c.query {
				t.Errorf("query %s, want %s", text, c.query)
			}
			again, _, err := ParseQuery(query, now)
			if err != nil || !reflect.DeepEqual(asText(t, again), asText(t, read)) {
				t.Errorf("the query has %s, want %s (%v)", asText(t, again), asText(t, read), err)
			}
		})
	}
}

func asText(t *testing.T, terms vehicle.Terms) string {
	t.Helper()
	data, err := json.Marshal([]any{terms})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTermsThatAreRefused: with the field that is to blame.
func TestTermsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, code, param string }{
		"a rate of another currency":         {`"rate":1`, "rate_invalid", "rate"},
		"a rate below the bounds":            {`"rate":499.99`, "rate_invalid", "rate"},
		"a rate above the bounds":            {`"rate":10000.01`, "rate_invalid", "rate"},
		"a negative rate":                    {`"rate":-2650`, "rate_invalid", "rate"},
		"a rate of nothing":                  {`"rate":0`, "rate_invalid", "rate"},
		"a rate as text":                     {`"rate":"2650"`, "rate_invalid", "rate"},
		"rates":                              {`"rate":[2650]`, "rate_invalid", "rate"},
		"a rate without end":                 {`"rate":1e999999999`, "rate_invalid", "rate"},
		"a rate that is true":                {`"rate":true`, "rate_invalid", "rate"},
		"a landing of the past":              {`"landing":"` + day(-2) + `"`, "field_invalid", "landing"},
		"a landing too far away":             {`"landing":"` + day(551) + `"`, "field_invalid", "landing"},
		"a landing that ends too far away":   {`"landing":{"from":"` + day(1) + `","to":"` + day(551) + `"}`, "field_invalid", "landing"},
		"a landing that ends too early":      {`"landing":{"from":"` + day(20) + `","to":"` + day(10) + `"}`, "field_invalid", "landing"},
		"a landing that is no day":           {`"landing":"January"`, "field_invalid", "landing"},
		"a landing of 31 February":           {`"landing":"2027-02-31"`, "field_invalid", "landing"},
		"a landing of nothing":               {`"landing":{}`, "field_invalid", "landing"},
		"a landing that is a number":         {`"landing":20270120`, "field_invalid", "landing"},
		"two rates":                          {`"rate":2700,"costs":{"exchangeRate":2600}`, "field_invalid", "costs.exchangeRate"},
		"a rate among the costs":             {`"costs":{"exchangeRate":1}`, "field_invalid", "costs.exchangeRate"},
		"costs that are a list":              {`"costs":[1]`, "field_invalid", "costs"},
		"costs that are a text":              {`"costs":"1"`, "field_invalid", "costs"},
		"freight that pays the buyer":        {`"costs":{"freightUSD":-1}`, "field_invalid", "costs.freightUSD"},
		"freight as text":                    {`"costs":{"freightUSD":"1300"}`, "field_invalid", "costs.freightUSD"},
		"freight without end":                {`"costs":{"freightUSD":1e999999999}`, "field_invalid", "costs.freightUSD"},
		"freight of a fleet":                 {`"costs":{"freightUSD":3000001}`, "field_invalid", "costs.freightUSD"},
		"shillings beyond the bounds":        {`"costs":{"inlandTZS":10000000001}`, "field_invalid", "costs.inlandTZS"},
		"a car of no size":                   {`"costs":{"shippingM3":0}`, "field_invalid", "costs.shippingM3"},
		"a car like a ship":                  {`"costs":{"shippingM3":301}`, "field_invalid", "costs.shippingM3"},
		"half a day in the port":             {`"costs":{"daysInPort":1.5}`, "field_invalid", "costs.daysInPort"},
		"a year and a day in the port":       {`"costs":{"daysInPort":366}`, "field_invalid", "costs.daysInPort"},
		"days before the port":               {`"costs":{"daysInPort":-1}`, "field_invalid", "costs.daysInPort"},
		"a switch that is a word":            {`"costs":{"plates":"no"}`, "field_invalid", "costs.plates"},
		"a switch that is a number":          {`"costs":{"comprehensive":1}`, "field_invalid", "costs.comprehensive"},
		"Zanzibar":                           {`"destination":"Zanzibar"`, "destination_unsupported", "destination"},
		"transit":                            {`"costs":{"destination":"Lusaka"}`, "destination_unsupported", "destination"},
		"a destination that is a number":     {`"destination":5`, "field_invalid", "destination"},
		"months that are a word":             {`"byMonth":"yes"`, "field_invalid", "byMonth"},
		"a target of nothing":                {`"target":{}`, "field_invalid", "target"},
		"a target in dollars":                {`"target":{"onTheRoadTZS":15000}`, "field_invalid", "target.onTheRoadTZS"},
		"a target of a street of cars":       {`"target":{"onTheRoadTZS":10000000001}`, "field_invalid", "target.onTheRoadTZS"},
		"a target that is a number":          {`"target":25000000`, "field_invalid", "target"},
		"a target that is a list of targets": {`"target":[{"onTheRoadTZS":25000000}]`, "field_invalid", "target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, _, err := parse(t, c.body)
			p, ok := errors.AsType[*problem.Problem](err)
			if !ok || p.Code != c.code || p.Param != c.param || p.Status != 400 {
				t.Errorf("got %v of %+v, want %s of %s", err, read, c.code, c.param)
			}
		})
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	t.Parallel()
	for query, param := range map[string]string{
		"rate=much": "rate", "landing=soon": "landing", "landing=2027-01-20..": "", "landing=..2027-01-20": "landing",
		"costs=x": "costs", "costs=[1]": "costs", "costs=" + strings.Repeat("%20", 4097): "costs", "target=much": "target",
		"target=15000": "target.onTheRoadTZS", "byMonth=yes": "byMonth", "destination=Beira": "destination",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = ParseQuery(values, now)
		p, _ := errors.AsType[*problem.Problem](err)
		if param == "" && err != nil || param != "" && (p == nil || p.Param != param) {
			t.Errorf("%.40s: got %v, want the field %q", query, err, param)
		}
	}
}

func TestFieldsThatDoNotExistAreNamed(t *testing.T) {
	t.Parallel()
	_, ignored, err := parse(t, `"costs":{"freight":1300,"FreightUSD":1},"landing":{"from":"`+day(9)+`","until":"x"},"target":{"onTheRoadTZS":40000000,"usd":1}`)
	if want := []string{"landing.until", "costs.freight", "target.usd"}; err != nil || !slices.Equal(ignored, want) {
		t.Errorf("got %q, %v; want %q", ignored, err, want)
	}
}

// TestReadRemembersTheTerms of a body, and refuses what a strict request does not know.
func TestReadRemembersTheTerms(t *testing.T) {
	t.Parallel()
	body := Request{Rate: json.RawMessage("2700"), Target: json.RawMessage(`{"onTheRoadTZS":40000000,"usd":1}`)}
	r := request.From(httptest.NewRequestWithContext(t.Context(), "POST", "/", nil))
	if err := Read(r, &body, request.TagFields{}); err != nil || r.Terms.Rate.String() != "2700" || r.Terms.Target == nil || !slices.Equal(r.Ignored, []string{"target.usd"}) {
		t.Errorf("got %v, %+v, %q", err, r.Terms, r.Ignored)
	}
	r.Strict = true
	if p, ok := errors.AsType[*problem.Problem](Read(r, &body, request.TagFields{})); !ok || p.Code != "field_unknown" || p.Param != "target.usd" {
		t.Errorf("strictly: got %v, want field_unknown", p)
	}
}

// TestIdentityTellsTermsApart: a request with an Idempotency-Key is another one on other
// terms.
func TestIdentityTellsTermsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, body := range []string{
		``, `"rate":2700`, `"rate":2701`, `"landing":"` + day(3) + `"`, `"landing":"` + day(4) + `"`, `"costs":{"plates":true}`,
		`"costs":{"plates":false}`, `"target":{"onTheRoadTZS":40000000}`, `"byMonth":true`,
	} {
		read, _, err := parse(t, body)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal([]any{read})
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[string(data)]; ok {
			t.Errorf("%q and %q are the same request: %s", before, body, data)
		}
		seen[string(data)] = body
	}
}

func TestTheViewOfAResultIsInItsURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		view request.Representation
		want string
	}{
		{request.Representation{}, "/v1/jobs/1"},
		{request.Representation{View: message.View{Lang: message.English}}, "/v1/jobs/1"},
		{request.Representation{View: message.View{Lang: message.Swahili}, Explain: true}, "/v1/jobs/1?explain=true&lang=sw"},
		{request.Representation{Terms: vehicle.Terms{Rate: decimal.NewFromInt(2700), ByMonth: true}}, "/v1/jobs/1?byMonth=true&rate=2700"},
	} {
		if got := c.view.At("/v1/jobs/1"); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		_, query, _ := strings.Cut(c.want, "?")
		read := request.From(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?"+query, http.NoBody))
		ignored, err := ReadQuery(read, now)
		if err != nil || ignored != nil || read.Explain != c.view.Explain || !read.Terms.Rate.Equal(c.view.Terms.Rate) {
			t.Errorf("%s is read as %+v, %q, %v", query, read.Representation, ignored, err)
		}
	}
	read := request.From(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?explain=banana", http.NoBody))
	if _, err := ReadQuery(read, now); err == nil {
		t.Error("explain=banana was not refused")
	}
}

// estimateOfToday is an estimate whose cost was computed today.
func estimateOfToday(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	var e vehicle.Estimate
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	e = cost.Embedded().Apply(e, vehicle.Terms{}, time.Now())
	if data, err = json.Marshal(e); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAnEstimateIsPricedOnTheTermsOfTheRequest, and as it is when they change nothing.
func TestAnEstimateIsPricedOnTheTermsOfTheRequest(t *testing.T) {
	t.Parallel()
	kept, costs := estimateOfToday(t), cost.Embedded()
	priced := func(terms vehicle.Terms, ignored ...string) (e vehicle.Estimate, data []byte) {
		t.Helper()
		data, err := Priced(costs, kept, terms, vehicle.FromListing, (&request.Request{Ignored: ignored}).Warnings())
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err != nil {
			t.Fatal(err)
		}
		return e, data
	}
	if _, data := priced(vehicle.Terms{}); &data[0] != &kept[0] {
		t.Error("an estimate of today without terms was made again")
	}
	usual, _ := priced(vehicle.Terms{}, "colour")
	if !slices.ContainsFunc(usual.Warnings, func(w vehicle.Warning) bool {
		return w.Code == "field_ignored" && strings.Contains(w.Message, "colour")
	}) {
		t.Errorf("got the warnings %+v, want field_ignored", usual.Warnings)
	}
	freight := money.NewNumber(decimal.NewFromInt(900))
	cheap, data := priced(vehicle.Terms{Costs: &vehicle.Costs{FreightUSD: &freight}})
	freight = money.NewNumber(decimal.NewFromInt(2900))
	dear, _ := priced(vehicle.Terms{Costs: &vehicle.Costs{FreightUSD: &freight}})
	if cheap.Summary.OnTheRoad.TZS >= dear.Summary.OnTheRoad.TZS {
		t.Errorf("on the road TZS %d with a freight of $900, %d with $2,900", cheap.Summary.OnTheRoad.TZS, dear.Summary.OnTheRoad.TZS)
	}
	if !strings.Contains(string(data), `"amountUSD":"900.00"`) {
		t.Errorf("got %.300s", data)
	}
	if _, data := priced(vehicle.Terms{Target: &vehicle.Target{OnTheRoadTZS: money.NewNumber(decimal.NewFromInt(40_000_000))}}); !strings.Contains(string(data), `"maxPriceUSD":{"targetTZS":40000000`) {
		t.Errorf("no highest price in %.300s", data)
	}
	if _, err := Priced(costs, []byte("no JSON"), vehicle.Terms{ByMonth: true}, vehicle.FromListing, nil); err == nil {
		t.Error("an estimate that is no JSON was priced")
	}
}

// TestAnEstimateOfYesterdayIsPricedAgain, because ages and rules change with the day.
func TestAnEstimateOfYesterdayIsPricedAgain(t *testing.T) {
	t.Parallel()
	today := time.Now().In(localtime.Zone).Format(time.DateOnly)
	kept := strings.ReplaceAll(string(estimateOfToday(t)), `"asOf":"`+today+`"}`, `"asOf":"2026-01-01"}`)
	data, err := Priced(cost.Embedded(), []byte(kept), vehicle.Terms{}, vehicle.FromListing, nil)
	if err != nil || strings.Contains(string(data), "2026-01-01\"}") || !strings.Contains(string(data), `"asOf":"`+today+`"}`) {
		t.Errorf("got %v %.300s", err, data)
	}
}

type result struct {
	Name  string   `json:"name"`
	Parts []part   `json:"parts"`
	Other *part    `json:"other,omitempty"`
	Tags  []string `json:"tags"`
	Any   any      `json:"any"`
}

type part struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

var sets = FieldSets{Of: result{}, Contract: "name,parts.code", Usual: request.AllBut("tags,parts.text")}

// asking is a request with a query.
func asking(t *testing.T, target string) *request.Request {
	t.Helper()
	return request.From(httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
}

const whole = `{"name":"n","parts":[{"code":"1","text":"a"},{"code":"2","text":"b"}],"other":null,"tags":["t"],"any":{"x":{"y":1}}}`

func TestAResultHasTheMembersThatAreAskedFor(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		"":                           `{"name":"n","parts":[{"code":"1"},{"code":"2"}],"other":null,"any":{"x":{"y":1}}}`,
		"?fields=all":                whole,
		"?fields=contract":           `{"name":"n","parts":[{"code":"1"},{"code":"2"}]}`,
		"?fields=contract,tags":      `{"name":"n","parts":[{"code":"1"},{"code":"2"}],"tags":["t"]}`,
		"?fields=tags,name":          `{"name":"n","tags":["t"]}`,
		"?fields=parts.text,parts":   `{"parts":[{"code":"1","text":"a"},{"code":"2","text":"b"}]}`,
		"?fields=parts,parts.text":   `{"parts":[{"code":"1","text":"a"},{"code":"2","text":"b"}]}`,
		"?fields=any.x.y,other.code": `{"other":null,"any":{"x":{"y":1}}}`,
	} {
		got, err := ReadFields(asking(t, "/"+fields), sets)
		if err != nil || string(got.Of([]byte(whole), message.View{})) != want {
			t.Errorf("%s: got %s, %v, want %s", fields, got.Of([]byte(whole), message.View{}), err, want)
		}
	}
}

// A string is in the language of the view, although the caller does not read the text beside it.
func TestAChosenStringIsInTheLanguageOfTheView(t *testing.T) {
	t.Parallel()
	fields, err := ReadFields(asking(t, "/?fields=code"), FieldSets{Of: part{}, Contract: "code"})
	if err != nil {
		t.Fatal(err)
	}
	got := string(fields.Of([]byte(`{"code":"One.","text":{"en":"One.","sw":"Moja.","draft":true}}`), message.View{Lang: message.Swahili}))
	if want := `{"code":"Moja.","draft":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(message.View{}.Of([]byte(`{"id":"1","result":`+got+`}`))), `{"id":"1","result":{"code":"Moja."},"draft":true}`; got != want {
		t.Errorf("in another answer: got %s, want %s", got, want)
	}
}

func TestAMemberThatDoesNotExistIsNamedWithThoseThatDo(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		"nam":            `"nam" to choose with "fields". There are: name, parts, other, tags, any.`,
		"name,parts.cod": `"parts.cod" to choose with "fields". There are: parts.code, parts.text.`,
		"name.x":         `"name.x" to choose with "fields". There are: name.`,
		"name,":          `"" to choose`,
		"all,name":       `"all" to choose`,
	} {
		_, err := ReadFields(asking(t, "/?fields="+fields), sets)
		p, refused := errors.AsType[*problem.Problem](err)
		if !refused || p.Code != "field_unknown" || p.Param != "fields" || !strings.Contains(p.Message, want) {
			t.Errorf("%s: got %v, want %s", fields, err, want)
		}
	}
}
