package api_test

import "strings"

// billed is a bill of the car of testdata.
func billed(name, rest string, has ...string) scenario {
	return scenario{
		name: name, url: "/v1/bill-check", body: `{"car":{"make":"TOYOTA","modelCode":"NKE165","year":2016},` + rest + `}`, status: 200, has: has,
	}
}

func badBill(name, body, code string) scenario {
	return scenario{name: name, url: "/v1/bill-check", body: body, status: 400, has: []string{`"code":"` + code + `"`}}
}

var billScenarios = []scenario{
	billed("lines", `"lines":[{"name":"Wharfage","amount":"9,450,000"},{"name":"Agency fee","amount":150,"currency":"USD"}]`,
		`"code":"wharfage","verdict":"above"`, `"bound":"tariff","issuer":"tpa","pay":"control_number"`, `"also":["in_dollars"]`,
		`"verdict":"too_high"`, `"missing":[{"code":`, `"car":{"make":"TOYOTA"`, `not the authority's assessment`),
	billed("a text in Swahili", `"text":"Ada ya wakala laki 4 na nusu\nJumla 450,000","lang":"sw"`,
		`"code":"clearing_agent","verdict":"within"`, `"billedTZS":"450000.00"`, `"verdict":"fits"`, `Haya si makadirio rasmi`),
	billed("a day in the past", `"date":"2026-06-20","text":"PID 120,000"`, `"verdict":"not_owed"`),
	{
		name: "without a car", url: "/v1/bill-check", body: `{"text":"Wharfage 450,000\nAgency fee 200,000"}`, status: 200,
		has: []string{`"verdict":"unknown"`, `"verdict":"below"`, `"verdict":"ask"`, `Tell us the car`}, hasNot: []string{`"car"`},
	},
	badBill("no amount", `{"text":"Dear buyer"}`, "bill_empty"),
	badBill("nothing", `{}`, "bill_empty"),
	badBill("a day that is none", `{"text":"Wharfage 450,000","date":"tomorrow"}`, "field_invalid"),
	badBill("a bill of the future", `{"text":"Wharfage 450,000","date":"2999-01-01"}`, "field_invalid"),
	badBill("another currency", `{"lines":[{"name":"Wharfage","amount":1,"currency":"KES"}]}`, "field_invalid"),
	badBill("a car that is none", `{"text":"Wharfage 450,000","car":{"make":"TOYOTA"}}`, "field_invalid"),
	{
		name: "too long", url: "/v1/bill-check", body: `{"text":"` + strings.Repeat(`Wharfage 450,000\n`, 61) + `"}`, status: 413,
		has: []string{`"code":"bill_too_long"`},
	},
}
