// Package transcribe has a vision model copy an auction sheet: first whether the
// image shows one, then what is printed where, then once more the values that
// matter most. It translates and computes nothing; package interpret does.
package transcribe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ushuru/pkg/ai"
)

// Sheet has the model transcribe one sheet. The images are its pages, as JPEG.
//
// Errors are *fetch.Error with the code sheet.NotASheet or
// sheet.SheetUnreadable, which are permanent, and those of package ai, some of
// which are temporary.
func Sheet(ctx context.Context, model *ai.Client, images [][]byte) (*Transcript, error) {
	if len(images) == 0 {
		return nil, errors.New("transcribe: no image to read")
	}
	pages := make([]ai.Picture, len(images))
	for i, image := range images {
		pages[i] = image
	}
	var transcript Transcript
	var err error
	if transcript.Classification, err = classify(ctx, model, pages); err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if transcript.Reading, err = ask[Reading](groupCtx, model, question(ReadQuestion, pages)); err != nil {
			return fmt.Errorf("transcribe: reading the sheet: %w", err)
		}
		return nil
	})
	group.Go(func() (err error) {
		transcript.Second, err = secondReading(groupCtx, model, pages)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return &transcript, nil
}

// classify asks the model what the images show, and asks again before it refuses them, because the
// buyer never learns the faults on a sheet that is refused. Refusals are not cached: the model
// looks again at an image that is sent again.
func classify(ctx context.Context, model *ai.Client, pages []ai.Picture) (c Classification, err error) {
	asked := question(ClassifyQuestion, pages)
	for range 2 {
		if c, err = ask[Classification](ctx, model, asked); err != nil {
			return c, fmt.Errorf("transcribe: classifying the image: %w", err)
		}
		refusal := c.refusal()
		if refusal == nil {
			return c, nil
		}
		err = refusal
		if failure := model.Forget(ctx, asked); failure != nil {
			return c, fmt.Errorf("transcribe: forgetting a refusal: %w", failure)
		}
		asked.System += "\n" + strings.TrimSpace(secondLook)
		asked.Attempt++
	}
	return c, err
}

// secondReading returns nil when the model gives no usable answer: the report is
// then less certain.
func secondReading(ctx context.Context, model *ai.Client, pages []ai.Picture) (*SecondReading, error) {
	second, err := ask[SecondReading](ctx, model, question(SecondReadingQuestion, pages))
	switch {
	case isBadAnswer(err):
		return nil, nil //nolint:nilnil // a report without a second reading is a report
	case err != nil:
		return nil, fmt.Errorf("transcribe: second reading: %w", err)
	}
	return &second, nil
}

// ask puts a question, and repeats it once when the answer is not usable.
func ask[T any](ctx context.Context, model *ai.Client, q ai.Question) (T, error) {
	answer, _, err := ai.Ask[T](ctx, model, q, nil)
	if isBadAnswer(err) {
		q.Attempt++
		answer, _, err = ai.Ask[T](ctx, model, q, nil)
	}
	return answer, err
}

// isBadAnswer reports whether the model answered, and not usably: another try may do.
func isBadAnswer(err error) bool {
	bad, ok := errors.AsType[*ai.Error](err)
	return ok && slices.Contains([]ai.Kind{ai.BadAnswer, ai.Truncated, ai.Refused, ai.NoChoices}, bad.Kind)
}
