package service

import (
	"cmp"
	_ "embed" // the table of flags
	"errors"
	"strings"
	"sync"

	"ushuru/pkg/client"
	"ushuru/pkg/datatable"
)

// refusedBody is an error as the commands print it: that of the API, and the flag that it is about.
type refusedBody struct {
	client.Body

	Flag string `json:"flag,omitempty"`
}

// PrintError prints an error of the API in its form and returns the exit status for it. Any
// other error is returned as it is.
func (s *Session) PrintError(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	said := refused.Body
	said.Text, said.Values, said.WaitingFor, said.Job = nil, nil, "", "" // those of a job have more
	if said.Retryable == nil {
		said.Retryable = new(bool)
	}
	return s.Refuse(refusedBody{said, FlagOf(refused)})
}

//go:embed flags.csv
var flagsFile string

// flagsFor are the flags that help against an error of the API, by "param/" or "code/" and its name.
var flagsFor = sync.OnceValue(func() map[string]string {
	flags := map[string]string{}
	for _, row := range datatable.Rows(flagsFile) {
		flags[row[0]+"/"+row[1]] = row[2]
	}
	return flags
})

// FlagOf returns the flag that an error is about; "" when no flag helps.
func FlagOf(refused *client.Error) string {
	param, _, _ := strings.Cut(refused.Param, ".")
	return cmp.Or(flagsFor()["param/"+param], flagsFor()["code/"+refused.Code])
}
