package match

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ushuru/pkg/chassis"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// BadLine is the code of a line that is no JSON object, or too long.
const BadLine = "bad_line"

// maxLine is the longest line that is read, in bytes.
const maxLine = 1 << 20

// line is one listing of the input. Numbers may be written as strings.
type line struct {
	ID           json.RawMessage `json:"id"` // handed through
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

	Error      string   `json:"error,omitempty"`
	Code       string   `json:"code,omitempty"`
	Line       int      `json:"line,omitempty"` // of the input, with an error
	Candidates []Scored `json:"candidates,omitempty"`
}

// Lines reads listings as JSON, one a line, and writes one line of JSON for
// each: the label chosen, or an error with code, line number and candidates.
// With explain, matches list their ranked candidates too. A bad line does not
// stop the rest and empty lines are skipped; the error returned is that of
// reading or writing.
func (m *Matcher) Lines(ctx context.Context, in io.Reader, out io.Writer, cat *tra.Catalogue, explain bool) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	writer := bufio.NewWriter(out)
	enc := plainjson.NewEncoder(writer)
	for number := 1; ; number++ {
		text, long, err := readLine(reader)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("match: line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(text)) > 0 || long {
			if err := enc.Encode(m.answerLine(ctx, text, long, number, cat, explain)); err != nil {
				return fmt.Errorf("match: line %d: %w", number, err)
			}
		}
		if err != nil {
			return writer.Flush()
		}
	}
}

// readLine reads one line; of a line beyond maxLine it reports only that.
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

func (m *Matcher) answerLine(ctx context.Context, text []byte, long bool, number int, cat *tra.Catalogue, explain bool) answer {
	if long {
		return answer{Error: fmt.Sprintf("line %d is longer than %d bytes", number, maxLine), Code: BadLine, Line: number}
	}
	var l line
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &l); err != nil {
		message := fmt.Sprintf("line %d is not a JSON object of a listing: %v", number, err)
		return answer{Error: message, Code: BadLine, Line: number}
	}
	car := l.car()
	choice, scored, err := m.Explain(ctx, car, cat)
	if refused, ok := errors.AsType[*Error](err); ok {
		return answer{ID: l.ID, Error: refused.Message, Code: refused.Code, Line: number, Candidates: scored}
	}
	if err != nil {
		return answer{ID: l.ID, Error: err.Error(), Line: number}
	}
	a := answer{
		ID: l.ID, Make: choice.Make.Name, ModelBody: choice.Label, MatchType: choice.MatchType, MatchReason: choice.Reason,
		Confidence: Confidence(choice.MatchType, choice.Adjustments), Adjustments: choice.Adjustments,
	}
	if explain {
		a.Candidates = scored
	}
	return a
}

// car makes a Car of a line. The code cell is kept as listed and split as a
// listing page's would be.
func (l line) car() vehicle.Car {
	raw := string(l.RawModelCode)
	if raw == "" {
		raw = string(l.ModelCode)
	}
	code, _ := chassis.Parse(raw)
	return vehicle.Car{
		Make: string(l.Make), Model: string(l.Model), Version: string(l.Version), RawModelCode: raw, ModelCode: code.Code,
		FrameNumber: string(l.FrameNumber), Year: ReadYear(string(l.Year)), EngineCC: ReadCC(string(l.EngineCC)),
		Fuel: string(l.Fuel), BodyType: string(l.Body),
	}
}

// text is a JSON string, number or null, as text.
type text string

// UnmarshalJSON accepts what a listing's field may be.
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
