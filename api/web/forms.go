package web

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/web/frame"
	"ushuru/pkg/message"
)

// formPage is the page of a form.
type formPage struct {
	name    string // of its screen
	isStart bool   // it is the first page, as search engines list it

	Filled  url.Values   // what the visitor typed, and what is known of the car
	Problem message.Text // why that is no answer; empty for none
	Wrong   string       // the field that is to blame; "" for none

	Links  []string // of several cars that were typed
	Makes  []string // to choose from, or
	Models []string // those of the make
}

// Value returns what is known of a field.
func (f *formPage) Value(name string) string { return f.Filled.Get(name) }

// Most returns how large a file may be.
func (*formPage) Most() int { return maxSheet }

// Fuels returns the fuels that a visitor can name.
func (*formPage) Fuels() []string { return fuels }

var fuels = []string{"petrol", "petrol_hybrid", "diesel", "electric"}

// keptTerms are the terms that a form about the car does not ask for.
var keptTerms = []string{termFreight, termInsurance, termAgent, termRate, termLanding}

// described are the fields of a form that say what is known of a car.
var described = append([]string{termPrice, termBasis}, fieldsOf[pathQuote]...)

// Kept returns what is known of a car, and the terms of its answer, as fields for the next step.
func (f *formPage) Kept(without ...string) url.Values {
	kept := url.Values{}
	for _, name := range slices.Concat(described, keptTerms, []string{termWith}) {
		kept.Set(name, f.Value(name))
	}
	return frame.Without(kept, without...)
}

// IsLast reports whether the car is named, so that the last step of its description is next.
func (f *formPage) IsLast() bool {
	return f.Value("make") != "" && (f.Value("model") != "" || f.Value("modelBody") != "")
}

// Back returns the address of an earlier step with what is known, but for some fields.
func (f *formPage) Back(without ...string) string { return frame.Address("/hand", f.Kept(without...)) }

// formKind is a form whose fields are a request to the API.
type formKind struct {
	path string // of the endpoint
	// spoken says that the answer is in the language of the visitor, which is a part of the request.
	spoken bool
	// fill adds to a page what there is to choose from, and file answers a form with a file; nil for
	// neither.
	fill func(r *http.Request, page *formPage) error
	file request.Handler
	// check returns the field that needs no look of the API, and the key of what is wrong with it;
	// nil, or "", for none.
	check func(form url.Values) (field, key string)
	// blame returns the field that a problem of the API is about, and the key of what to say of it;
	// "" is what the problem says.
	blame func(why *problem.Problem) (field, key string)
}

// targetPattern is a number of shillings. The API knows its bounds.
var targetPattern = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)

// formKinds returns the forms by the names of their screens.
func (p *Pages) formKinds() map[string]formKind {
	return map[string]formKind{
		// The car, and what the buyer can pay for it on the road.
		"bid": {path: pathEstimate, check: checkTarget, blame: func(why *problem.Problem) (field, key string) {
			switch {
			case strings.HasPrefix(why.Param, termTarget):
				return termTarget, "bid.bad_target"
			case why.Code == "url_missing":
				return "u", "bid.no_link"
			}
			return "u", ""
		}},
		// A clearing agent's bill, and the car.
		"bill": {path: pathBill, spoken: true, blame: func(why *problem.Problem) (field, key string) {
			if strings.HasPrefix(why.Code, "bill_") {
				return "text", ""
			}
			return "u", ""
		}},
		// The link of an auction sheet, or its file.
		"sheet": {path: pathReport, file: p.uploadSheet, check: func(form url.Values) (field, key string) {
			form.Set("u", typedLink(form.Get("u")))
			if form.Get("u") == "" {
				return "u", "sheet.no_link"
			}
			return "", ""
		}},
		// A car that the visitor describes.
		"hand": {path: pathQuote, fill: p.findChoices, check: checkPrice, blame: blameDescribed},
	}
}

func checkTarget(form url.Values) (field, key string) {
	if !readSum(form, termTarget) || !targetPattern.MatchString(termsIn(form).Get(termTarget)) {
		return termTarget, "bid.bad_target"
	}
	return "", ""
}

func checkPrice(form url.Values) (field, key string) {
	switch {
	case !readSum(form, termPrice):
		return termPrice, "wrong.price"
	case form.Get(termPrice) != "" && form.Get(termBasis) == "": // which decides thousands of dollars
		return termBasis, "wrong.basis"
	}
	return "", ""
}

func blameDescribed(why *problem.Problem) (field, key string) {
	field = strings.TrimPrefix(why.Param, "known.")
	if name, differs := map[string]string{
		"engine_cc": "cc", "fobPriceUSD": termPrice, "cfPriceUSD": termPrice, "modelCode": "code",
	}[field]; differs {
		field = name
	}
	if why.Status != http.StatusBadRequest || !slices.Contains(described, field) {
		return "", ""
	}
	return field, "wrong." + field
}

// form returns the page of a form. What the query says of a car fills it.
func (p *Pages) form(name string) request.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		filled := r.URL.Query()
		filled.Set("u", linkIn(filled.Get("u")))
		return p.showForm(w, r, http.StatusOK, formPage{name: name, Filled: filled})
	}
}

// showForm responds with the page of a form.
func (p *Pages) showForm(w http.ResponseWriter, r *http.Request, status int, page formPage) error {
	if fill := p.forms[page.name].fill; fill != nil {
		if err := fill(r, &page); err != nil {
			return err
		}
	}
	return p.Render(w, r, status, frame.Screen{Name: page.name, Index: page.isStart, Body: &page})
}

// submitForm starts what a form asks for, and leads to the page of its answer.
func (p *Pages) submitForm(name string) request.Handler {
	kind := p.forms[name]
	return func(w http.ResponseWriter, r *http.Request) error {
		if kind.file != nil && isMultipart(r) {
			return kind.file(w, r)
		}
		if err := frame.ParseForm(w, r); err != nil {
			return err
		}
		page := formPage{name: name, Filled: r.PostForm}
		if kind.check != nil {
			if field, key := kind.check(r.PostForm); key != "" {
				page.Wrong, page.Problem = field, message.Say("page/"+key, nil)
				return p.showForm(w, r, http.StatusUnprocessableEntity, page)
			}
		}
		wanted := linkOf(kind.path, r.PostForm)
		if kind.spoken {
			wanted.Fields.Set("lang", p.Language(w, r))
		}
		return p.lead(w, r, wanted, func(said message.Text, why *problem.Problem) error {
			page.Problem = said
			if kind.blame != nil {
				field, key := kind.blame(why)
				if page.Wrong = field; key != "" {
					page.Problem = message.Say("page/"+key, nil)
				}
			}
			return p.showForm(w, r, frame.StatusOf(why), page)
		})
	}
}

// maxMakes is how many makes a page lists.
const maxMakes = 200

// findChoices finds what the next step in the description of a car offers: the makes, those that have
// what is searched for or all, or the models of the make. The only model is chosen. Which chassis code
// it is, the page of the answer asks, and only if several remain.
func (p *Pages) findChoices(r *http.Request, page *formPage) error {
	query := page.Value("q")
	if page.Value("make") == "" {
		if query != "" {
			err := p.inTurn(r.Context(), r, func(ctx context.Context) (err error) {
				page.Makes, _, err = p.options.Names(ctx, query)
				return err
			})
			if err != nil || len(page.Makes) > 0 {
				return err
			}
		}
		var list struct {
			Makes []string `json:"makes"`
		}
		err := p.api.Get(r.Context(), "/v1/vehicles?limit="+strconv.Itoa(maxMakes), &list)
		page.Makes = list.Makes
		return err
	}
	if page.IsLast() {
		return nil
	}
	var code string
	err := p.inTurn(r.Context(), r, func(ctx context.Context) (err error) {
		page.Models, code, err = p.options.Models(ctx, page.Value("make"), query)
		return err
	})
	if code != "" {
		page.Filled.Set("code", code)
	}
	if len(page.Models) == 1 && query != "" {
		page.Filled.Set("model", page.Models[0])
	}
	return err
}
