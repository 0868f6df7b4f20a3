package sheet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"ushuru/pkg/ai"
	"ushuru/pkg/chassis"
)

// Codes of errors of reading.
const (
	NotASheet       = "not_a_sheet"      // the pictures show something else
	SheetUnreadable = "sheet_unreadable" // a sheet, but blank, nonsense, or not to be read
)

// Reader reads sheets with a model that sees. It is safe for concurrent use.
type Reader struct {
	AI *ai.Client

	// Years returns when cars of a code were built, see Known.
	Years func(chassis.Code) (from, to int)
	Now   func() time.Time // default time.Now
}

// Read asks what the pictures show, then what is printed on the sheet and, as a
// question of its own, once more what matters most. Pictures are pages of one
// sheet.
//
// Errors are *Error with NotASheet or SheetUnreadable, which do not pass, and
// those of package ai, which may.
func (r *Reader) Read(ctx context.Context, pictures []Picture) (*Report, error) {
	if len(pictures) == 0 {
		return nil, errors.New("sheet: no picture to read")
	}
	pages := make([]ai.Picture, len(pictures))
	for i, picture := range pictures {
		pages[i] = picture.JPEG
	}
	var raw Raw
	var err error
	if raw.Gate, err = ask[Gate](ctx, r.AI, gateQuestion(pages)); err != nil {
		return nil, fmt.Errorf("sheet: what is on the picture: %w", err)
	}
	if err := gateError(&raw.Gate); err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if raw.Sheet, err = ask[Reading](groupCtx, r.AI, readQuestion(pages)); err != nil {
			return fmt.Errorf("sheet: reading: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		again, err := ask[Again](groupCtx, r.AI, againQuestion(pages))
		if bad, ok := errors.AsType[*ai.Error](err); ok && bad.Kind == ai.BadAnswer {
			return nil // nobody looked twice, which the report says
		}
		if err != nil {
			return fmt.Errorf("sheet: second look: %w", err)
		}
		raw.Again = &again
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	known := Known{Years: r.Years}
	if r.Now != nil {
		known.Now = r.Now()
	}
	return Interpret(raw, known), nil
}

// ask puts a question, and once more when the answer is of no use.
func ask[T any](ctx context.Context, client *ai.Client, q ai.Question) (T, error) {
	answer, _, err := ai.Ask[T](ctx, client, q, nil)
	if bad, ok := errors.AsType[*ai.Error](err); ok && bad.Kind == ai.BadAnswer {
		answer, _, err = ai.Ask[T](ctx, client, q, nil)
	}
	return answer, err
}

// gateError says why nothing is read of a picture; nil when it is a sheet.
func gateError(gate *Gate) error {
	r := Interpret(Raw{Gate: *gate}, Known{})
	switch {
	case !r.IsAuctionSheet:
		return refused(NotASheet, "The picture shows no Japanese auction sheet.", nil)
	case !gate.FilledIn:
		return refused(SheetUnreadable, "The picture shows a blank form of an auction sheet, without the data of a car.", nil)
	case !gate.MakesSense:
		return refused(SheetUnreadable,
			"The text of the sheet makes no sense or contradicts itself. It may be a fake; nothing was read.", nil)
	case r.Readability.Overall == None:
		return refused(SheetUnreadable, "The sheet cannot be read. Send a larger or sharper picture of it.", nil)
	}
	return nil
}
