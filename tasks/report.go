package tasks

import (
	"crypto/sha256"
	"encoding/hex"
)

// KindReport is the kind of a job that has the AI read an auction sheet. Its
// result is a sheet.Reading, which is the same for all languages.
const KindReport = "report"

// stepSummarize is the step of a report.
const stepSummarize = "summarize"

// ReportInput is the input of a report: the canonical URL of the sheet, or the
// hash of the file that a caller sent.
type ReportInput struct {
	URL    string `json:"url,omitempty"`
	Upload string `json:"upload,omitempty"`
	Owner  string `json:"owner,omitempty"` // the API key that alone may get the result, see For
}

// ID names the sheet in 32 hexadecimal digits. The id of a file cannot be
// guessed without the file, and differs from one API key to the other.
func (i ReportInput) ID() string {
	text := i.URL + "\n" + i.Upload
	if i.Owner != "" {
		text += "\n" + i.Owner
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
