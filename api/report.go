package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"ushuru/pkg/cache"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/sheet"
	"ushuru/pkg/upload"
	"ushuru/tasks"
)

// reportRequest is what POST /v1/condition-report is asked: a sheet by its
// URL, or the file itself.
type reportRequest struct {
	URL  string `json:"url"`
	Lang string `json:"lang"`

	file []byte // nil when the URL is given
}

// postReport answers POST /v1/condition-report: from the cache, or from a job
// that is waited for as long as the caller prefers.
func (s *Server) postReport(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.sheetAsked(w, r)
	if err != nil {
		return err
	}
	input := tasks.ReportInput{}
	if input.Lang, err = languageOf(asked.Lang); err != nil {
		return err
	}
	if input.SheetInput, err = s.sheetInput(asked); err != nil {
		return err
	}
	return s.serve(w, r, task{
		identity: input,
		kept: func(ctx context.Context) ([]byte, error) {
			return s.cached(ctx, cache.ReportKey(input.ID(), input.Lang))
		},
		submit: func(ctx context.Context) (*jobs.Job, error) {
			return s.submitReport(ctx, input, asked.file, recorderOf(r).key.ID)
		},
		answer: writeResult,
	})
}

// sheetAsked reads the request in either of its forms.
func (s *Server) sheetAsked(w http.ResponseWriter, r *http.Request) (asked reportRequest, err error) {
	if isForm(r.Header) {
		return s.readForm(w, r)
	}
	err = readJSON(w, r, maxBody, &asked)
	var wrongType *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrongType):
		return asked, err
	case wrongType.Field == "lang":
		return asked, errLangInvalid.withCause(err)
	}
	return asked, errSheetURLMissing.withCause(err)
}

// languageOf checks the language of a text; English without a word.
func languageOf(lang string) (string, error) {
	switch lang {
	case "":
		return sheet.English, nil
	case sheet.English, sheet.Swahili:
		return lang, nil
	}
	return "", errLangInvalid
}

// sheetInput names the sheet, or says what is wrong with its address.
func (s *Server) sheetInput(asked reportRequest) (input tasks.SheetInput, err error) {
	if asked.file != nil {
		input.Upload = upload.Hash(asked.file)
		return input, nil
	}
	if strings.TrimSpace(asked.URL) == "" {
		return input, errSheetURLMissing
	}
	input.URL, err = s.options.Sheets.Canonical(asked.URL, s.options.AllowLoopback)
	if public, ok := errors.AsType[*fetch.Error](err); ok {
		return input, &problem{status: http.StatusBadRequest, code: public.Code, message: public.Message, cause: err}
	}
	return input, err
}

// submitReport has a sheet read. A file whose reading is kept already is not
// checkRequired, and nobody would drop it.
func (s *Server) submitReport(ctx context.Context, input tasks.ReportInput, file []byte, owner string) (*jobs.Job, error) {
	if file != nil {
		read, err := s.options.Cache.Get(ctx, cache.ReadingKey(input.ID()))
		if err != nil && !errors.Is(err, cache.ErrMiss) {
			return nil, err
		}
		if read != nil {
			file = nil
		}
	}
	if file != nil {
		if err := s.options.Uploads.Put(ctx, input.Upload, file); err != nil {
			return nil, err
		}
	}
	return s.options.Tasks.Submit(ctx, tasks.KindReport, input, tasks.Requester{Owner: owner, Class: jobs.Interactive})
}
