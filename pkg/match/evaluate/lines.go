package evaluate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// BadLine is the code of a line that is not a JSON object, or too long.
const BadLine = "bad_line"

// maxLine is the maximum length of a line, in bytes.
const maxLine = 1 << 20

// line is one listing of the input. Numbers may be written as strings.
type line struct {
	ID           json.RawMessage `json:"id"` // copied to the output
	Make         text            `json:"make"`
	Model        text            `json:"model"`
	Version      text            `json:"version"`
	ModelCode    text            `json:"modelCode"` // with or without prefix, or a frame number
	RawModelCode text            `json:"rawModelCode"`
	FrameNumber  text            `json:"frameNumber"`
	Year         text            `json:"year"`
	EngineCC     text            `json:"engine_cc"`
	Fuel         text            `json:"fuel"`
	Body         text            `json:"body"`
}

// answer is one line of the output: a match, or an error.
type answer struct {
	ID          json.RawMessage      `json:"id,omitempty"`
	Make        string               `json:"make,omitempty"`
	ModelBody   string               `json:"modelBody,omitempty"`
	MatchType   vehicle.MatchType    `json:"matchType,omitempty"`
	MatchReason string               `json:"matchReason,omitempty"`
	Confidence  vehicle.Confidence   `json:"confidence,omitempty"` // as far as the label goes
	Adjustments []vehicle.Adjustment `json:"adjustments,omitempty"`

	Error      string         `json:"error,omitempty"`
	Code       string         `json:"code,omitempty"`
	Line       int            `json:"line,omitempty"` // of the input, with an error
	Candidates []match.Scored `json:"candidates,omitempty"`
}

// Lines reads listings as JSON, one per line, and writes one line of JSON for
// each: the chosen label, or an error with code, line number and candidates.
// With explain, matches list their ranked candidates too. Lines skips empty
// lines and continues after a bad one; it returns the error of reading or
// writing.
func Lines(
	ctx context.Context, matcher *match.Matcher, in io.Reader, out io.Writer, cat *catalogue.Catalogue, explain bool,
) error {
	answer := func(text []byte, long bool, number int) answer {
		if long {
			message := fmt.Sprintf("line %d is longer than %d bytes", number, maxLine)
			return answer{Error: message, Code: BadLine, Line: number}
		}
		return answerLine(ctx, matcher, text, number, cat, explain)
	}
	reader := bufio.NewReaderSize(in, 64<<10)
	writer := bufio.NewWriter(out)
	enc := plainjson.NewEncoder(writer)
	for number := 1; ; number++ {
		text, long, err := readLine(reader)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("evaluate: line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(text)) > 0 || long {
			if err := enc.Encode(answer(text, long, number)); err != nil {
				return fmt.Errorf("evaluate: line %d: %w", number, err)
			}
		}
		if err != nil {
			return writer.Flush()
		}
	}
}

// readLine reads one line. It discards a line beyond maxLine and reports long.
func readLine(r *bufio.Reader) (text []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxLine; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// answerLine matches the listing of one line.
func answerLine(
	ctx context.Context, matcher *match.Matcher, text []byte, number int, cat *catalogue.Catalogue, explain bool,
) answer {
	var l line
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &l); err != nil {
		message := fmt.Sprintf("line %d is not a JSON object of a listing: %v", number, err)
		return answer{Error: message, Code: BadLine, Line: number}
	}
	car := l.car()
	choice, scored, err := matcher.Explain(ctx, car, cat)
	if refused, ok := errors.AsType[*match.Error](err); ok {
		return answer{ID: l.ID, Error: refused.Message, Code: refused.Code, Line: number, Candidates: scored}
	}
	if err != nil {
		return answer{ID: l.ID, Error: err.Error(), Line: number}
	}
	a := answer{
		ID: l.ID, Make: choice.Make.Name, ModelBody: choice.Label, MatchType: choice.MatchType, MatchReason: choice.Reason,
		Confidence: match.Confidence(choice.MatchType, choice.Adjustments), Adjustments: choice.Adjustments,
	}
	if explain {
		a.Candidates = scored
	}
	return a
}

// car converts a line to a Car. The code cell stays as listed and is parsed as
// that of a listing page.
func (l line) car() vehicle.Car {
	raw := string(l.RawModelCode)
	if raw == "" {
		raw = string(l.ModelCode)
	}
	code, _ := chassis.Parse(raw)
	return vehicle.Car{
		Make: string(l.Make), Model: string(l.Model), Version: string(l.Version), RawModelCode: raw, ModelCode: code.Code,
		FrameNumber: string(l.FrameNumber), Year: readYear(string(l.Year)), EngineCC: readCC(string(l.EngineCC)),
		Fuel: string(l.Fuel), BodyType: string(l.Body),
	}
}

// text is the text of a JSON string, number or null.
type text string

// UnmarshalJSON accepts every JSON type that a listing's field can have.
func (t *text) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case len(data) > 0 && (data[0] == '-' || '0' <= data[0] && data[0] <= '9'):
		*t = text(data)
		return nil
	}
	var s string
	err := json.Unmarshal(data, &s)
	*t = text(s)
	return err
}
