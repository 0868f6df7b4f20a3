package api

import (
	"context"
	"net/http"
	"strings"

	"ushuru/pkg/cache"
	"ushuru/pkg/sheet"
	"ushuru/pkg/upload"
	"ushuru/tasks"
)

// reportRequest is the body of POST /v1/condition-report: the URL of a sheet,
// or a form with its file.
type reportRequest struct {
	URL  string `json:"url"`
	Lang string `json:"lang"`

	file []byte // nil when the URL is given
}

// typeProblem says which field has the wrong type.
func (*reportRequest) typeProblem(field string) *problem {
	if field == "lang" {
		return errLangInvalid
	}
	return errSheetURLMissing
}

// postReport answers POST /v1/condition-report.
func (s *Server) postReport(w http.ResponseWriter, r *http.Request) error {
	// Decode the body or form. Equal requests have equal inputs, and so one job.
	req, err := s.readReportRequest(w, r)
	if err != nil {
		return err
	}
	input := tasks.ReportInput{}
	if input.Lang, err = parseLanguage(req.Lang); err != nil {
		return err
	}
	if input.SheetInput, err = s.sheetInput(req); err != nil {
		return err
	}

	// The outcome of the same request before, or else a cached result, or else
	// a job. Only a job counts against the limits of the key.
	found, err := s.replay(r, input)
	if err != nil {
		return err
	}
	if found.isEmpty() {
		if found.result, err = s.cachedResult(r.Context(), cache.ReportKey(input.ID(), input.Lang)); err != nil {
			return err
		}
	}
	if found.isEmpty() {
		if err := s.checkJobLimits(w, r); err != nil {
			return err
		}
		if err := s.putSheet(r.Context(), input.SheetInput, req.file); err != nil {
			return err
		}
		if found.job, err = s.submit(r, tasks.KindReport, input); err != nil {
			return err
		}
	}
	if found, err = s.setOutcome(r, found); err != nil {
		return err
	}

	// Wait for the job as long as the caller prefers, and respond.
	result, err := s.waitForResult(w, r, found)
	if err != nil {
		return err
	}
	return writeResult(w, result)
}

// readReportRequest reads the request in either of its formats.
func (s *Server) readReportRequest(w http.ResponseWriter, r *http.Request) (req reportRequest, err error) {
	if isForm(r.Header) {
		return s.readForm(w, r)
	}
	err = readJSON(w, r, maxBody, &req)
	return req, err
}

// parseLanguage parses the language of a text. The default is English.
func parseLanguage(lang string) (string, error) {
	switch lang {
	case "":
		return sheet.English, nil
	case sheet.English, sheet.Swahili:
		return lang, nil
	}
	return "", errLangInvalid
}

// sheetInput names the sheet, or says what is wrong with its URL.
func (s *Server) sheetInput(req reportRequest) (input tasks.SheetInput, err error) {
	if req.file != nil {
		input.Upload = upload.Hash(req.file)
		return input, nil
	}
	if strings.TrimSpace(req.URL) == "" {
		return input, errSheetURLMissing
	}
	input.URL, err = s.options.Sheets.Canonical(req.URL, s.options.AllowLoopback)
	return input, urlProblem(err)
}

// putSheet stores the file of a request for the worker. A file whose reading
// is cached is not needed, and no worker would delete it.
func (s *Server) putSheet(parent context.Context, input tasks.SheetInput, file []byte) error {
	if file == nil {
		return nil
	}
	reading, err := s.cachedResult(parent, cache.ReadingKey(input.ID()))
	if err != nil || reading != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(parent, redisTimeout)
	defer cancel()
	if err := s.options.Uploads.Put(ctx, input.Upload, file); err != nil {
		return errUnavailable.withCause(err)
	}
	return nil
}
