package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"ushuru/pkg/sheet/sheettest"
)

// simulateSheets draws SIMULATED auction sheets.
type simulateSheets struct {
	Out string   `required:"" placeholder:"DIR" type:"path" help:"Directory for ID.jpg and ID.json, what stands on it."`
	IDs []string `arg:"" optional:"" name:"id" help:"Seeds, or names of special sheets and of the demo's; all by default."`
}

// Run is called by kong.
func (c *simulateSheets) Run(r *run) error {
	ids := c.IDs
	if len(ids) == 0 {
		for seed := range sheettest.Number {
			ids = append(ids, strconv.Itoa(seed+1))
		}
		ids = slices.Concat(ids, sheettest.Specials(), sheettest.Demos())
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil { //nolint:gosec // pictures for everybody
		return err
	}
	for _, id := range ids {
		s, found := sheettest.ByID(id)
		if !found {
			return fmt.Errorf("there is no sheet %q", id)
		}
		picture, err := s.Picture()
		if err != nil {
			return err
		}
		truth, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return err
		}
		for name, content := range map[string][]byte{id + ".jpg": picture, id + ".json": append(truth, '\n')} {
			if err := os.WriteFile(filepath.Join(c.Out, name), content, 0o644); err != nil { //nolint:gosec // for everybody
				return err
			}
		}
		_, _ = fmt.Fprintf(r.Out, "SIMULATED sheet %s: %s, %s, %d bytes. %s\n", id, s.Form, s.Style, len(picture), s.Trap)
	}
	return nil
}
