package vehicles

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/chassis"
	"ushuru/pkg/cost"
	"ushuru/pkg/jobs"
	"ushuru/pkg/localtime"
	"ushuru/pkg/match"
	"ushuru/pkg/message"
	"ushuru/pkg/money"
	"ushuru/pkg/tra"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

const (
	// maxModelYears is how many years of a model are returned, the latest.
	maxModelYears = 60
	// maxYearJobs is how many years of a model one request requests from the authority.
	maxYearJobs = 40
	// typicalAge is that of the car whose quote fetches the list of years of a model.
	typicalAge = 8
)

// yearsRequest is the query of /v1/vehicles/{modelBody}/years.
type yearsRequest struct {
	modelBody, make string
	car             vehicle.QuoteInput // of any year
	landing         *vehicle.LandingDays
	cheapestFirst   bool
}

// parseYearsRequest checks the path and the query.
func parseYearsRequest(r *request.Request) (yearsRequest, error) {
	query := r.URL.Query()
	if r.Method != http.MethodPost && query.Has("refresh") {
		return yearsRequest{}, problem.Field("refresh", "post")
	}
	req := yearsRequest{modelBody: strings.TrimSpace(r.Var("modelBody")), make: chassis.Normalise(query.Get("make"))}
	if err := terms.CheckLabel(req.modelBody); err != nil {
		return req, err
	}
	req.car.Fuel = chassis.Normalise(query.Get("fuel"))
	for _, field := range []struct{ name, value string }{{"make", req.make}, {"fuel", req.car.Fuel}} {
		if err := terms.CheckText(field.name, field.value); err != nil {
			return req, err
		}
	}
	var err error
	if text := query.Get("engine_cc"); text != "" {
		if req.car.EngineCC, err = strconv.Atoi(text); err != nil {
			req.car.EngineCC = -1 // which is refused
		}
	}
	if err = terms.CheckEngine(req.car.EngineCC); err != nil {
		return req, err
	}
	if req.cheapestFirst, err = request.Flag(query, "cheapestFirst"); err != nil {
		return req, err
	}
	asked, _, err := terms.ParseQuery(url.Values{"landing": query["landing"]}, time.Now())
	req.landing = asked.Landing
	return req, err
}

// Years answers GET /v1/vehicles/{modelBody}/years: the taxes of one model by year of
// manufacture, as far as the authority's answers are known. It never calls the authority
// and starts nothing. POST submits quotes of the years that are not known, and is answered
// in the same way.
func (s *Resource) Years(w http.ResponseWriter, plain *http.Request) error {
	r, status := request.From(plain), http.StatusOK
	req, err := parseYearsRequest(r)
	if err != nil {
		return err
	}
	cat, err := s.catalogue(r.Context())
	if err != nil {
		return err
	}
	label, err := s.findLabel(r.Context(), cat, req)
	if err != nil {
		return err
	}
	req.car.Make, req.car.ModelBody = chassis.Normalise(label.Make.Name), label.Text
	found, unknown, err := s.knownYears(r.Context(), cat, label, req)
	if err == nil {
		unknown, err = s.notRunning(r.Context(), unknown, &found)
	}
	if err == nil && r.Method == http.MethodPost {
		err = s.requestYears(w, r, unknown, &found)
	}
	if err != nil {
		return err
	}
	if found.Pending > 0 {
		if r.Method == http.MethodPost {
			status = http.StatusAccepted
		}
		w.Header().Set("Retry-After", request.Seconds(request.PollAfter))
		if outage := s.options.Outages.Now(r.Context()); outage.Reason != "" {
			said := outage.Notice()
			found.WaitingFor, found.Message, found.Text = await.WaitingForAuthority, said.Message, said.Text
		}
	}
	markCheapest(found.Years)
	if req.cheapestFirst {
		slices.SortStableFunc(found.Years, compareTaxes)
	}
	return request.WriteJSON(w, status, found)
}

// findLabel returns the label of a request, of whose makes there must be one.
func (s *Resource) findLabel(ctx context.Context, cat *catalogue.Catalogue, req yearsRequest) (catalogue.Label, error) {
	makes, pending := cat.Makes(), false
	if req.make != "" {
		entries, known := cat.Of(req.make)
		if !known {
			return catalogue.Label{}, errMakeNotFound
		}
		makes = []catalogue.Make{entries.Make}
	}
	var exact, alike []catalogue.Label
	for _, mk := range makes {
		entries, _ := cat.Of(mk.Name)
		pending = pending || entries.Pending
		for _, label := range entries.Labels {
			switch {
			case label.Text == req.modelBody:
				exact = append(exact, label)
			case sameLabel(label.Text, req.modelBody):
				alike = append(alike, label)
			}
		}
	}
	if len(exact) == 0 { // one of each make
		exact = slices.CompactFunc(alike, func(a, b catalogue.Label) bool { return a.Make == b.Make })
	}
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(exact) > 1:
		names := make([]string, len(exact))
		for i, label := range exact {
			names[i] = label.Make.Name
		}
		makes := message.Values{"makes": strings.Join(names, ", ")}
		return catalogue.Label{}, problem.New(http.StatusBadRequest, "make_ambiguous", makes)
	case pending:
		return catalogue.Label{}, errCatalogueMissing.WithCause(s.requestSync(ctx))
	}
	return catalogue.Label{}, errLabelNotFound
}

// sameLabel compares labels with case and white space folded, as for a quote.
func sameLabel(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// knownYears returns the years of a label with what is known of each, and the quotes
// that request what is not.
func (s *Resource) knownYears(
	ctx context.Context, cat *catalogue.Catalogue, label catalogue.Label, req yearsRequest,
) (found vehicle.ModelYears, unknown []vehicle.QuoteInput, err error) {
	car := req.car
	found = vehicle.ModelYears{Make: label.Make.Name, ModelBody: label.Text, Years: []vehicle.YearTaxes{}}
	known := s.options.Catalogue.Known()
	list, err := known.List(ctx, label.Make, catalogue.Vehicle{ModelBody: label.Text})
	if errors.Is(err, tra.ErrNotKnown) { // the quote of any year fetches the list
		car.Year = time.Now().Year() - typicalAge
		return found, []vehicle.QuoteInput{car}, nil
	}
	if err != nil {
		return found, nil, err
	}
	found.Listed = true
	choice, err := s.matcher.ChooseLabel(car.Car(), cat, label.Text)
	if err != nil {
		return found, nil, err
	}
	years := slices.Sorted(slices.Values(catalogue.YearsOf(list)))
	slices.Reverse(years)
	for _, year := range years[:min(len(years), maxModelYears)] {
		car.Year = year
		taxes, err := s.taxesOfYear(ctx, choice, car, req.landing)
		switch {
		case err != nil:
			return found, nil, err
		case !taxes.Known && taxes.Problem == nil:
			unknown = append(unknown, car)
		}
		found.Years = append(found.Years, taxes)
	}
	found.Unknown = len(unknown)
	return found, unknown, nil
}

// taxesOfYear returns what is known of the taxes of a car, as its quote would find them.
func (s *Resource) taxesOfYear(
	ctx context.Context, choice match.Choice, car vehicle.QuoteInput, landing *vehicle.LandingDays,
) (taxes vehicle.YearTaxes, err error) {
	taxes.YOM = car.Year
	matched, got, err := s.knownAnswer(ctx, choice, car)
	if refused, ok := errors.AsType[*match.Error](err); ok {
		why := refused.Notice
		if why.Code == "listing_incomplete" {
			why.Code = "request_incomplete"
		}
		taxes.Problem = &why
		return taxes, nil
	}
	taxes.Country, taxes.FuelType, taxes.CapacityBand = matched.Country, matched.FuelType, matched.CapacityBand
	if errors.Is(err, tra.ErrNotKnown) {
		return taxes, nil
	}
	if err != nil {
		return taxes, err
	}
	setTaxes(&taxes, got)
	estimate := vehicle.Estimate{Matched: matched, Tax: got.Tax, AsOf: taxes.AsOf}
	onLanding := s.options.Costs.OnLanding(estimate, landing, time.Now())
	taxes.OnLanding = &onLanding
	return taxes, nil
}

// knownAnswer returns the known answer of the authority for a car, and its entry; the
// error is tra.ErrNotKnown when there is none.
func (s *Resource) knownAnswer(
	ctx context.Context, choice match.Choice, car vehicle.QuoteInput,
) (matched vehicle.Matched, got tra.Calculation, err error) {
	known := s.options.Catalogue.Known()
	matched, tuple, err := match.Resolve(ctx, car.Car(), choice, known)
	if err != nil {
		return matched, got, err
	}
	got, err = known.Details(ctx, choice.Make, tuple)
	return matched, got, err
}

// setTaxes sets the figures of a year to those of the authority.
func setTaxes(taxes *vehicle.YearTaxes, got tra.Calculation) {
	tax := got.Tax
	taxes.Known, taxes.TotalTaxesInTZS = true, &tax.TotalTaxesInTZS
	taxes.AsOf, taxes.Warnings = localtime.Stamp(got.At), got.Warnings
	if imported := tax.TotalImportTaxesInTZS.Decimal(); imported.IsPositive() {
		dollars := money.New(tax.TotalTaxesInTZS.Decimal().Mul(tax.TotalImportTaxesInUSD.Decimal()).DivRound(imported, cents))
		taxes.TotalTaxesInUSD = &dollars
	}
	taxes.ExciseDueToAgePercent = cost.AgePercent(
		tax.CIFInUSD.Decimal(), tax.ImportDutyInUSD.Decimal(), tax.ExiseDutyDueToAgeInUSD.Decimal())
}

// cents is how many digits an amount has after its point.
const cents = 2

// compareTaxes orders years by their taxes on landing, those that are not known last.
func compareTaxes(a, b vehicle.YearTaxes) int {
	switch {
	case a.Known && b.Known:
		return a.OnLanding.TotalTaxesInTZS.Decimal().Cmp(b.OnLanding.TotalTaxesInTZS.Decimal())
	case a.Known:
		return -1
	case b.Known:
		return 1
	}
	return 0
}

// markCheapest marks the known years with the lowest taxes.
func markCheapest(years []vehicle.YearTaxes) {
	if len(years) == 0 {
		return
	}
	lowest := slices.MinFunc(years, compareTaxes)
	for i := range years {
		years[i].Cheapest = years[i].Known && compareTaxes(years[i], lowest) == 0
	}
}

// notRunning returns the quotes that no running job has, and counts the others as
// pending.
func (s *Resource) notRunning(
	ctx context.Context, quotes []vehicle.QuoteInput, found *vehicle.ModelYears,
) (open []vehicle.QuoteInput, err error) {
	dedupKeys := make([]string, len(quotes))
	for i, quote := range quotes {
		if dedupKeys[i], err = tasks.DedupKey(tasks.KindQuote, quote); err != nil {
			return nil, err
		}
	}
	running, err := s.options.Jobs.AreRunning(ctx, dedupKeys)
	if err != nil {
		return nil, err
	}
	for i, quote := range quotes {
		if running[i] {
			found.Pending++
		} else {
			open = append(open, quote)
		}
	}
	return open, nil
}

// requestYears submits quotes in the class of batches, so that they come after what
// people wait for, and counts them as pending. When the key may have no more running
// jobs it stops; that is an error only if nothing is pending.
func (s *Resource) requestYears(
	w http.ResponseWriter, r *request.Request, quotes []vehicle.QuoteInput, found *vehicle.ModelYears,
) error {
	for _, quote := range quotes[:min(len(quotes), max(maxYearJobs-found.Pending, 0))] {
		if _, err := s.options.Work.Submit(w, r, jobs.Bulk, await.Wanted{Kind: tasks.KindQuote, Input: quote}); err != nil {
			return unlessPending(err, found.Pending)
		}
		found.Pending++
	}
	if found.Pending == 0 {
		return nil
	}
	return s.options.Work.Confirm(r.Context())
}

// unlessPending returns the error of a limit of the key only when nothing is pending.
func unlessPending(err error, pending int) error {
	limit, ok := errors.AsType[*problem.Problem](err)
	if ok && limit.Status == http.StatusTooManyRequests && pending > 0 {
		return nil
	}
	return err
}
