package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WriteNotices writes the licences and notices of the modules in the production build, and
// of the standard library: what must go with every copy of the program. dir is the root of
// the main module, and goroot that of Go.
func WriteNotices(ctx context.Context, w io.Writer, dir, goroot string) error {
	modules, err := Modules(ctx, dir, "-tags", ProductionTag, ".")
	if err != nil {
		return err
	}
	standard := Module{Path: "Go standard library", Dir: goroot}
	for _, module := range append([]Module{standard}, modules...) {
		texts, err := notices(module)
		if err != nil {
			return err
		}
		rule := strings.Repeat("=", 78) //nolint:mnd // a line
		_, err = fmt.Fprintf(w, "%s\n%s %s\n%s\n\n%s\n\n", rule, module.Path, module.Version, rule, strings.Join(texts, "\n\n"))
		if err != nil {
			return fmt.Errorf("supply: notices: %w", err)
		}
	}
	return nil
}

// notices returns the texts of the licence and of the notices of a module.
func notices(module Module) (texts []string, err error) {
	entries, err := os.ReadDir(module.Dir)
	if err != nil {
		return nil, fmt.Errorf("supply: notices of %s: %w", module.Path, err)
	}
	for _, entry := range entries {
		name := strings.ToLower(strings.TrimSuffix(entry.Name(), filepath.Ext(entry.Name())))
		if entry.IsDir() || !slices.Contains([]string{"license", "licence", "copying", "notice", "patents"}, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(module.Dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("supply: notices of %s: %w", module.Path, err)
		}
		texts = append(texts, strings.TrimSpace(string(text)))
	}
	if texts == nil {
		return nil, errors.New("supply: no licence of " + module.Path)
	}
	return texts, nil
}
