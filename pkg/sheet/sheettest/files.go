package sheettest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// WriteFiles writes SIMULATED auction sheets to a directory: ID.jpg, and
// ID.json with what is printed on it. Without ids it draws all of them.
func WriteFiles(out io.Writer, dir string, ids []string) error {
	if len(ids) == 0 {
		for seed := range Number {
			ids = append(ids, strconv.Itoa(seed+1))
		}
		ids = slices.Concat(ids, Specials(), Demos())
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // everyone may see the images
		return err
	}
	for _, id := range ids {
		if err := writeFiles(out, dir, id); err != nil {
			return err
		}
	}
	return nil
}

func writeFiles(out io.Writer, dir, id string) error {
	s, found := ByID(id)
	if !found {
		return fmt.Errorf("there is no sheet %q", id)
	}
	image, err := s.Picture()
	if err != nil {
		return err
	}
	truth, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{id + ".jpg": image, id + ".json": append(truth, '\n')} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil { //nolint:gosec // as the directory
			return err
		}
	}
	_, err = fmt.Fprintf(out, "SIMULATED sheet %s: %s, %s, %d bytes. %s\n", id, s.Form, s.Style, len(image), s.Trap)
	return err
}
