package estimates

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"ushuru/api/await"
	"ushuru/api/problem"
	"ushuru/api/request"
	"ushuru/api/terms"
	"ushuru/pkg/cache"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/render"
	"ushuru/pkg/vehicle"
	"ushuru/tasks"
)

// Each is named by its code.
var (
	errSheetMissing   = problem.BadRequest("url_missing.sheet").Of("url")
	errFormInvalid    = problem.BadRequest("form_invalid").Of("file")
	errFileEmpty      = problem.BadRequest("file_empty").Of("file")
	errFileTooLarge   = problem.New(http.StatusRequestEntityTooLarge, "sheet_too_large", nil).Of("file")
	errReportNotFound = problem.NotFound("report_not_found")
)

// reportRequest is the body of POST /v1/condition-report: the URL of a sheet,
// or a form with its file.
type reportRequest struct {
	request.TagFields

	URL  string `json:"url"`
	Lang string `json:"lang"`

	file []byte // nil when the URL is given
}

// TypeProblem returns the problem of a field that has the wrong type. A URL that
// is not a string counts as missing.
func (*reportRequest) TypeProblem(string) *problem.Problem {
	return errSheetMissing
}

// PostReport answers POST /v1/condition-report.
func (s *Resource) PostReport(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	body, err := s.readReport(w, r)
	if err != nil {
		return err
	}
	input, err := s.reportInput(body)
	if err != nil {
		return err
	}
	if r.Fields, err = terms.ReadFields(r, terms.OfReport); err != nil {
		return err
	}
	wanted := await.Wanted{Kind: tasks.KindReport, Attachment: body.file, Identity: reportIdentity{input, r.Lang}}
	input = input.For(r.Key.ID)
	wanted.Input, wanted.Key = input, cache.ReadingKey(input.ID())
	return s.options.Work.Serve(w, r, wanted, func(reading []byte, cached bool) ([]byte, error) {
		return s.finishReport(r, input, reading, cached, r.Warnings())
	})
}

// finishReport makes the answer of a report from what the AI read.
func (s *Resource) finishReport(
	r *request.Request, input tasks.ReportInput, reading []byte, cached bool, warnings []vehicle.Warning,
) ([]byte, error) {
	return s.options.Limits.Compute(r, func() ([]byte, error) {
		report, err := s.report(r, input, reading)
		if err != nil {
			return nil, err
		}
		report.Cached = cached
		report.Warnings = append(report.Warnings, warnings...)
		return plainjson.Encode(report)
	})
}

// reportIdentity is what makes two requests for a report the same request.
type reportIdentity struct {
	tasks.ReportInput

	Lang string `json:"lang"`
}

// report writes the report on a sheet, from what the AI read, in the turn of a request.
// When a listing with this sheet was estimated for the caller, the sheet is compared with it.
func (s *Resource) report(
	r *request.Request, input tasks.ReportInput, result []byte,
) (*vehicle.ConditionReport, error) {
	reading, report, err := sheet.ParseReading(result)
	if err != nil {
		return nil, err
	}
	r.Place.Turn.Give()
	listing, err := s.listingOf(r.Context(), input.ID(), r.Key.ID)
	if err == nil {
		err = r.Place.Turn.Take(r.Context())
	}
	if err != nil {
		return nil, err
	}
	response := &vehicle.ConditionReport{Object: vehicle.ObjectReport, ID: input.ID(), Lang: r.Lang, Report: reading.Report}
	var mismatches []sheet.Mismatch
	if listing != nil {
		mismatches = sheet.Compare(report, listing.Car)
		response.Listing = listing.Input.URL
	}
	for _, m := range mismatches {
		response.Mismatches = append(response.Mismatches, vehicle.Mismatch{
			Field: m.Field, Sheet: m.Sheet, Listing: m.Listing, YearBasis: m.YearBasis,
		})
	}
	response.Summary, err = render.Text(report, r.Lang, mismatches)
	return response, err
}

// listingOf returns the estimate of the listing that has a sheet, of those that an
// API key has named; nil when there is none.
func (s *Resource) listingOf(ctx context.Context, sheetID, owner string) (*vehicle.Estimate, error) {
	key, err := s.options.Cache.Get(ctx, cache.ListingKey(sheetID, owner))
	if err != nil || key == nil {
		return nil, err
	}
	cached, err := s.options.Cache.Get(ctx, cache.Key(key))
	if err != nil || cached == nil {
		return nil, err
	}
	estimate := &vehicle.Estimate{}
	if err := json.Unmarshal(cached, estimate); err != nil {
		return nil, fmt.Errorf("reports: cached estimate: %w", err)
	}
	return estimate, nil
}

// readReport reads the request in either of its formats.
func (s *Resource) readReport(w http.ResponseWriter, r *request.Request) (body reportRequest, err error) {
	if isForm(r.Header) {
		return s.readForm(w, r)
	}
	if err = r.JSON(w, request.MaxBody, &body); err == nil {
		_, err = request.ParseLanguage(body.Lang)
	}
	if err == nil {
		err = r.ReadTags(body.TagFields)
	}
	return body, err
}

// reportInput names the sheet, or says what is wrong with its URL.
func (s *Resource) reportInput(body reportRequest) (input tasks.ReportInput, err error) {
	if body.file != nil {
		input.Upload = request.Hash(body.file)
		return input, nil
	}
	if strings.TrimSpace(body.URL) == "" {
		return input, errSheetMissing
	}
	input.URL, err = s.options.Sheets.Canonical(body.URL, s.options.AllowLoopback)
	return input, request.URLProblem(err)
}

// maxFile is for an image or a PDF. A phone's best photograph has ten megabytes.
const maxFile = 12 << 20

// formAllowance is for the parts of a form around its file, in bytes.
const formAllowance = 64 << 10

// isForm reports whether the headers announce a form with a file.
func isForm(h http.Header) bool {
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && mediaType == "multipart/form-data"
}

// readForm reads a file and a language from a form, part by part, and stops at
// the limits.
func (s *Resource) readForm(w http.ResponseWriter, r *request.Request) (body reportRequest, err error) {
	if err := s.options.Limits.AdmitBody(w, r); err != nil {
		return body, err
	}
	defer r.Place.Turn.Give()
	r.Body = http.MaxBytesReader(w, r.Body, maxFile+formAllowance)
	lang := ""
	err = request.EachPart(r.Request, func(part *multipart.Part) error {
		switch part.FormName() {
		case "file":
			return body.readFile(part, r.ContentLength)
		case "lang":
			text, err := io.ReadAll(io.LimitReader(part, 64))
			lang = string(text)
			return err
		}
		return nil // other parts are ignored
	})
	switch {
	case err != nil:
		return body, request.BodyProblem(err, errFileTooLarge, errFormInvalid)
	case body.file == nil:
		return body, errFormInvalid
	case len(body.file) == 0:
		return body, errFileEmpty
	case lang != "":
		r.Lang, err = request.ParseLanguage(lang)
	}
	return body, err
}

// readFile reads the file of a form of a size, -1 when that is unknown.
func (body *reportRequest) readFile(part *multipart.Part, size int64) (err error) {
	if body.file != nil {
		return errFormInvalid
	}
	body.file, err = request.UpTo(part, maxFile, size)
	if err == nil && len(body.file) > maxFile {
		return errFileTooLarge
	}
	return err
}

// GetDamageMap answers GET /v1/condition-report/{id}/map.svg: the unfolded car
// with the damage codes of a sheet that was read. Any valid key may see it: an
// id cannot be guessed without the sheet.
func (s *Resource) GetDamageMap(w http.ResponseWriter, plain *http.Request) error {
	r := request.From(plain)
	reading, err := s.options.Cache.Get(r.Context(), cache.ReadingKey(r.Var("id")))
	if err != nil {
		return err
	}
	if reading == nil {
		return errReportNotFound
	}
	drawn, err := s.options.Limits.Compute(r, func() ([]byte, error) {
		_, report, err := sheet.ParseReading(reading)
		if err != nil {
			return nil, err
		}
		return render.Map(report, r.Lang), nil
	})
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml; charset=utf-8")
	// A browser that opens the drawing as a page may apply its styles, nothing else.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'")
	w.WriteHeader(http.StatusOK)
	// Map escapes what was read; Write fails only when the caller has disconnected.
	_, _ = w.Write(drawn) //nolint:gosec // see above
	return nil
}
