package webhook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"ushuru/pkg/webhook/signature"
)

// saved is one line of a backup: an endpoint with its secrets, and the id of its API
// key.
type saved struct {
	Owner  string `json:"owner"`
	stored        //nolint:embeddedstructfieldcheck // a line begins with its owner
}

// notice is the first line of a backup, for people.
const notice = `{"notice":"SECRET: the secrets in this file sign webhooks. Who has it can send forged events to the receivers."}`

// maxSavedLine bounds a line of a backup.
const maxSavedLine = 1 << 20

// Export writes the endpoints of API keys, with their secrets, as JSON lines after a
// notice. Secrets sign, so hashes of them would be useless: the file is secret.
func (s *Store) Export(ctx context.Context, owners []string, w io.Writer) (n int, err error) {
	if _, err := io.WriteString(w, notice+"\n"); err != nil {
		return 0, err
	}
	lines := json.NewEncoder(w)
	for _, owner := range owners {
		endpoints, err := s.all(ctx, owner)
		if err != nil {
			return n, err
		}
		for _, e := range endpoints {
			if e, err = s.opened(owner, e); err != nil {
				return n, err
			}
			if err := lines.Encode(saved{owner, e}); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// Import adds the endpoints of an export that do not exist and whose API key exists,
// and returns how many endpoints the store now has of them and how many have no key.
// It may run twice. An endpoint that exists keeps its record.
func (s *Store) Import(ctx context.Context, r io.Reader, hasKey func(owner string) bool) (present, keyless int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSavedLine)
	for number := 1; lines.Scan(); number++ {
		if len(lines.Bytes()) == 0 || lines.Text() == notice {
			continue
		}
		line, err := parseSaved(lines.Bytes())
		if err != nil {
			return present, keyless, fmt.Errorf("webhook: line %d: %w", number, err)
		}
		if !hasKey(line.Owner) {
			keyless++
			continue
		}
		record, err := s.record(line.Owner, &line.stored)
		if err != nil {
			return present, keyless, err
		}
		added, err := scriptAdd.Run(ctx, s.redis, []string{keyEndpoints(line.Owner)}, line.ID, record, MaxEndpoints).Bool()
		if err == nil && !added {
			err = ErrTooMany
		}
		if err != nil {
			return present, keyless, fmt.Errorf("webhook: line %d: %w", number, err)
		}
		if line.State == Unverified {
			_, err = s.Verify(ctx, line.Owner, line.ID, "import", time.Now())
		}
		if err != nil {
			return present, keyless, fmt.Errorf("webhook: line %d: %w", number, err)
		}
		present++
	}
	return present, keyless, lines.Err()
}

// parseSaved parses a line of a backup and refuses what Add would not have written.
func parseSaved(text []byte) (line saved, err error) {
	if err := json.Unmarshal(text, &line); err != nil {
		return line, err
	}
	address, err := url.Parse(line.URL)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http":
		return line, errors.New("no URL")
	case line.Owner == "" || line.ID == "" || len(line.Secrets) == 0:
		return line, errors.New("no owner, id or secret")
	}
	for _, s := range line.Secrets {
		if _, err := signature.Sign([]string{s.Value}, "", time.Time{}, nil); err != nil {
			return line, errors.New("a secret that cannot sign")
		}
	}
	return line, nil
}
