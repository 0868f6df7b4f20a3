// Package terms reads what a caller says: the terms, which decide about the cost and are the
// same in a body and in the query of a URL; a car; and the values that are known of a listing's.
package terms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/pkg/cost"
	"ushuru/pkg/jsonobject"
	"ushuru/pkg/localtime"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// Read checks the terms and the tags in the body of a request. The request remembers them.
func Read(r *request.Request, body *Request, tags request.TagFields) (err error) {
	var ignored []string
	if r.Terms, ignored, err = body.Parse(time.Now()); err != nil {
		return err
	}
	if err := r.Ignore(ignored...); err != nil {
		return err
	}
	return r.ReadTags(tags)
}

// The sets of members that a caller may name in fields beside members.
const (
	FieldsAll      = "all"
	FieldsContract = "contract"
)

// FieldSets are the sets of members of a kind of result: Contract has those of the
// specification, and Usual those that are read when the caller names none.
type FieldSets struct {
	Of       any // has the JSON of the result
	Contract string
	Usual    request.Fields
}

// ReadFields returns the members that the query of a request names, of a kind of result.
func ReadFields(r *request.Request, sets FieldSets) (request.Fields, error) {
	switch asked := r.URL.Query().Get("fields"); asked {
	case "":
		return sets.Usual, nil
	case FieldsAll:
		return request.FieldsAsked(asked, ""), nil
	default:
		for name := range strings.SplitSeq(asked, ",") {
			if name == FieldsContract {
				continue
			}
			if err := checkMember(reflect.TypeOf(sets.Of), name); err != nil {
				return request.Fields{}, err
			}
		}
		names := strings.ReplaceAll(","+asked+",", ","+FieldsContract+",", ","+sets.Contract+",")
		return request.FieldsAsked(asked, strings.Trim(names, ",")), nil
	}
}

// checkMember refuses the dotted name of a member that a type does not have, and says which
// it has.
func checkMember(of reflect.Type, dotted string) error {
	parent := ""
	for part := range strings.SplitSeq(dotted, ".") {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of != reflect.TypeFor[json.RawMessage]() {
			of = of.Elem()
		}
		if of == reflect.TypeFor[json.RawMessage]() || of.Kind() == reflect.Map || of.Kind() == reflect.Interface {
			return nil // any member may be there
		}
		has, found := jsonobject.Fields(of), reflect.Type(nil)
		names := make([]string, 0, len(has))
		for _, field := range has {
			if field.Name == part && found == nil {
				found = field.Type
			}
			if name := parent + field.Name; !slices.Contains(names, name) { // the nearest of embedded ones
				names = append(names, name)
			}
		}
		if found == nil {
			values := message.Values{"member": jsonobject.Clip(dotted), "known": strings.Join(names, ", ")}
			if len(names) == 0 {
				values["known"] = strings.TrimSuffix(parent, ".")
			}
			return problem.New(http.StatusBadRequest, "field_unknown.member", values).Of("fields")
		}
		of, parent = found, parent+part+"."
	}
	return nil
}

// ReadQuery reads how a caller wants a result from the query of a request, but for its language
// and fields. Ignored are the names in it that do not exist.
func ReadQuery(r *request.Request, now time.Time) (ignored []string, err error) {
	query := r.URL.Query()
	if r.Explain, err = request.Flag(query, "explain"); err != nil {
		return nil, err
	}
	if r.Tags, err = request.TagsOf(query); err != nil {
		return nil, err
	}
	r.Terms, ignored, err = ParseQuery(query, now)
	return ignored, err
}

// Priced returns an estimate with its cost on the terms of a request, and for a car
// that is bought today: a cached estimate may be of another day. Messages name the
// source of the car, and warnings come with it.
func Priced(
	costs *cost.Tables, estimate []byte, terms vehicle.Terms, source vehicle.Source, warned []vehicle.Warning,
) ([]byte, error) {
	now := time.Now()
	if terms.IsZero() && warned == nil && isOfDay(estimate, now) {
		return estimate, nil
	}
	return applied(estimate, source, func(e *vehicle.Estimate) {
		*e = costs.Apply(*e, terms, now)
		e.Warnings = append(e.Warnings, warned...)
	})
}

// PricedValue is Priced for a reader of some members of the estimate itself, and not of its JSON.
// The others may be missing: decoding them takes most of the time.
func PricedValue(
	costs *cost.Tables, estimate []byte, terms vehicle.Terms, source vehicle.Source, read request.Fields,
) (*vehicle.Estimate, error) {
	e, now := &vehicle.Estimate{}, time.Now()
	asIs := terms.IsZero() && isOfDay(estimate, now)
	if asIs {
		estimate = read.Pick(estimate)
	}
	if err := json.Unmarshal(estimate, e); err != nil {
		return nil, fmt.Errorf("terms: cached estimate: %w", err)
	}
	if asIs {
		return e, nil
	}
	e.Car.Source = source
	*e = costs.Apply(*e, terms, now)
	e.Warnings = message.Limit(e.Warnings)
	return e, nil
}

// addressCosts are the figures of the caller that the address of a page has, by their names there.
var addressCosts = map[string]string{"freight": "freightUSD", "insurance": "insuranceUSD", "agent": "agentTZS"}

// OfAddress reads the terms in the address of a page for buyers: those of the cost, and the price
// that the buyer gave in place of the listing's. A day of landing must not lie before made, the time
// of the page's figures.
func OfAddress(query url.Values, made time.Time) (terms vehicle.Terms, known *vehicle.Known, err error) {
	costs := map[string]json.RawMessage{}
	for name, field := range addressCosts {
		if value := query.Get(name); value != "" {
			figure, err := money.ParseDecimal(value)
			if err != nil {
				return terms, nil, problem.Field("costs."+field, "amount", 0, maxPriceUSD).WithCause(err)
			}
			costs[field] = json.RawMessage(figure.String())
		}
	}
	figures, err := plainjson.Encode(costs)
	if err != nil {
		return terms, nil, err
	}
	if terms, _, err = ParseQuery(url.Values{
		"rate": query["rate"], "landing": query["landing"], "target": query["target"], "costs": {string(figures)},
	}, made); err != nil {
		return terms, nil, err
	}
	price := query.Get("price")
	if price == "" {
		return terms, nil, nil
	}
	field := "fobPriceUSD"
	if query.Get("basis") == "cf" {
		field = "cfPriceUSD"
	}
	figure, err := money.ParseDecimal(price)
	if err != nil {
		return terms, nil, problem.Field("price", "positive", maxPriceUSD).WithCause(err)
	}
	known, err = ParseKnown(json.RawMessage(fmt.Sprintf("{%q:%s}", field, figure)))
	return terms, known, err
}

// ParseAddress reads the terms in the address of a page for buyers, and returns what puts an
// estimate on them, as of the time at which it was made: the highest price for a target, or the
// cost.
func ParseAddress(costs *cost.Tables, query url.Values, made time.Time) (
	reprice func(estimate []byte, described bool) ([]byte, error), err error,
) {
	terms, known, err := OfAddress(query, made)
	if err != nil {
		return nil, err
	}
	terms.ByMonth = terms.Target == nil // the page of the highest price has no months
	return func(estimate []byte, described bool) ([]byte, error) {
		source := vehicle.FromListing
		if described {
			source = vehicle.FromRequest
		}
		return applied(estimate, source, func(e *vehicle.Estimate) {
			if described {
				known.Apply(&e.Car)
			} else {
				e.Warnings = known.Override(&e.Car, e.Warnings)
			}
			*e = costs.Apply(*e, terms, made)
		})
	}, nil
}

// applied returns an estimate after a change. Messages name the source of the car.
func applied(estimate []byte, source vehicle.Source, change func(*vehicle.Estimate)) ([]byte, error) {
	var quote vehicle.Quote // an estimate, and the car that a request described
	e, whole := &quote.Estimate, any(&quote)
	if source == vehicle.FromListing {
		whole = e
	}
	if err := json.Unmarshal(estimate, whole); err != nil {
		return nil, fmt.Errorf("terms: cached estimate: %w", err)
	}
	e.Car.Source = source
	change(e)
	e.Warnings = message.Limit(e.Warnings)
	return plainjson.Encode(whole)
}

// isOfDay reports whether the cost of an estimate, with its summary, was computed on
// a day. Text of a listing cannot look like it, because its quotation marks are escaped.
func isOfDay(estimate []byte, now time.Time) bool {
	return bytes.Contains(estimate, []byte(`"summary":{"onTheRoad"`)) &&
		bytes.Contains(estimate, []byte(`"asOf":"`+now.In(localtime.Zone).Format(time.DateOnly)+`"}`))
}

// The members of an estimate that the specification names.
const contractOfEstimate = "input,car.make,car.model,car.modelCode,car.rawModelCode,car.version,car.year,car.engine_cc," +
	"car.fuel,car.fobPriceUSD,car.cfPriceUSD,car.images,car.conditionReportUrl," +
	"matched.make,matched.makeId,matched.modelBody,matched.matchType,matched.matchReason,matched.confidence," +
	"matched.adjustments.field,matched.adjustments.from,matched.adjustments.to,matched.adjustments.reason," +
	"matched.yom,matched.country,matched.fuelType,matched.capacityBand,tax,cached"

// longInEstimate are the members that an estimate has only for a caller who names them, or all:
// on what each line of the cost rests and its range, the cost by each answer to an open
// question, values that are in the sentences, and what the summary says too.
const longInEstimate = "driveAway.lines.basis,driveAway.lines.basisText,driveAway.lines.basisParts," +
	"driveAway.lines.source,driveAway.lines.sourceText,driveAway.lines.lowUSD,driveAway.lines.highUSD," +
	"driveAway.lines.lowTZS,driveAway.lines.highTZS,driveAway.lines.estimated," +
	"driveAway.lines.paidIn,driveAway.scenarios,driveAway.taxBase,driveAway.ageStep," +
	"driveAway.landing,matched.values,matched.adjustments.values," +
	"summary.text.values,summary.taxes.why.values,summary.authorityTaxes.why.values,summary.landing.basis.values," +
	"summary.exchange.text.values,summary.notIncluded.text.values,summary.pay"

// explained is an estimate with the source of each value.
type explained struct {
	vehicle.Quote

	Explain   json.RawMessage `json:"explain"`
	Notes     json.RawMessage `json:"notes"`
	NoteTexts json.RawMessage `json:"noteTexts"`
}

// The members of each kind of result.
var (
	OfEstimate = FieldSets{Of: explained{}, Contract: contractOfEstimate, Usual: request.AllBut(longInEstimate)}
	OfRow      = FieldSets{
		Of: explained{}, Contract: contractOfEstimate, Usual: request.Only(contractOfEstimate + "," + summaryOfRow),
	}
	OfComparison = FieldSets{
		Of:       vehicle.Comparison{},
		Contract: ofBoth(contractOfEstimate) + ",condReport1,condReport2,recommendation,cached",
		Usual:    request.AllBut(ofBoth(longInEstimate)),
	}
	OfReport = FieldSets{Of: vehicle.ConditionReport{}, Contract: "summary,cached"}
)

// summaryOfRow are the members that a row of a batch has beside those of the specification.
const summaryOfRow = "summary,driveAway.totalUSD,driveAway.totalTZS,driveAway.lowUSD,driveAway.highUSD,driveAway.lowTZS," +
	"driveAway.highTZS,driveAway.complete,maxPriceUSD,asOf"

// ofBoth returns members of the estimates of a comparison.
func ofBoth(list string) string {
	return "car1." + strings.ReplaceAll(list, ",", ",car1.") + ",car2." + strings.ReplaceAll(list, ",", ",car2.")
}
