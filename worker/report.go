package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"ushuru/pkg/ai"
	"ushuru/pkg/fetch"
	"ushuru/pkg/jobs"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/message"
	"ushuru/pkg/sheet"
	"ushuru/tasks"

	"ushuru/pkg/sheet/interpret"
	"ushuru/pkg/sheet/scan"
	"ushuru/pkg/sheet/transcribe"
)

// maxReading is the maximum size of a reading in bytes. The schema limits every text
// and list in it; a full sheet has about 15 KB.
const maxReading = 256 << 10

// sheetReader has the AI read inspection sheets.
type sheetReader struct {
	loader *scan.Loader
	model  *ai.Client // nil without an AI
	jobs   *jobs.Store
	log    *slog.Logger
}

// summarize has the AI read the sheet of a job. Its result serves both languages:
// the API writes the text and draws the damage map.
func (s *sheetReader) summarize(ctx context.Context, job *jobs.Job) (any, error) {
	var input tasks.ReportInput
	if err := json.Unmarshal(job.Input, &input); err != nil {
		return nil, fmt.Errorf("worker: input: %w", err)
	}
	if s.model == nil {
		return nil, tasks.Permanent(message.New("error/no_ai", nil), nil)
	}
	file, err := s.file(ctx, input, job)
	if err != nil {
		return nil, err
	}
	loaded, err := s.loader.Load(ctx, file)
	if err != nil {
		return nil, sheetFailure(err, job)
	}
	transcript, err := transcribe.Sheet(ctx, s.model, loaded.JPEGs())
	if err != nil {
		return nil, sheetFailure(err, job)
	}
	data, err := json.Marshal(interpret.Transcript(*transcript, interpret.Known{Years: facts.CodeYears}))
	if err != nil {
		return nil, err
	}
	if len(data) > maxReading {
		return nil, fmt.Errorf("worker: the reading of the sheet has %d bytes", len(data))
	}
	return sheet.Reading{Report: data}, nil
}

// file returns the uploaded sheet, or fetches it from its site.
func (s *sheetReader) file(ctx context.Context, input tasks.ReportInput, job *jobs.Job) ([]byte, error) {
	if input.Upload == "" {
		file, err := s.loader.Fetch(ctx, input.URL, job.Class == jobs.Bulk)
		if err != nil {
			logFetch(ctx, s.log, "sheet", err)
			return nil, sheetFailure(err, job)
		}
		return file, nil
	}
	file, err := s.jobs.Attachment(ctx, job.ID)
	if errors.Is(err, jobs.ErrNoAttachment) {
		return nil, tasks.Permanent(message.New("error/upload_expired", nil), err)
	}
	return file, err
}

// sheetFailure returns the error of the job for an error of loading or reading a
// sheet.
func sheetFailure(err error, job *jobs.Job) error {
	if failure, ok := errors.AsType[*fetch.Error](err); ok {
		return pageFailure(failure, job, tasks.OfferSheet)
	}
	if spent, ok := errors.AsType[*ai.BudgetError](err); ok {
		why := "error/ai_budget_used_up"
		if spent.Key != "" {
			why = "error/ai_budget_used_up.key"
		}
		return tasks.Permanent(message.New(why, nil), err)
	}
	failure, ok := errors.AsType[*ai.Error](err)
	if !ok {
		return err
	}
	if failure.Retryable() {
		return tasks.Transient(message.New("error/ai_unavailable", nil), failure.RetryAfter, err)
	}
	return tasks.Permanent(message.New("error/ai_failed", nil), err)
}
