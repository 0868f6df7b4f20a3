package sheet

import (
	"encoding/json"
	"fmt"
)

// Reading is the result of a job that reads a sheet: the report as JSON. It is
// stored once for both languages.
type Reading struct {
	Report json.RawMessage `json:"report"`
}

// ParseReading decodes the result of a job that reads a sheet. It returns the
// reading, and the report in it.
func ParseReading(result []byte) (Reading, *Report, error) {
	var (
		reading Reading
		report  Report
	)
	if err := json.Unmarshal(result, &reading); err != nil {
		return reading, nil, fmt.Errorf("sheet: reading: %w", err)
	}
	if err := json.Unmarshal(reading.Report, &report); err != nil {
		return reading, nil, fmt.Errorf("sheet: report of a reading: %w", err)
	}
	return reading, &report, nil
}
