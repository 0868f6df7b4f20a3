// Package supply knows the modules of others that the program is built from: which of
// them are in a production build, their licences, and the bill of materials (SBOM).
package supply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ProductionTag is the build tag of a production build, which lacks what only tests and
// the demo need.
const ProductionTag = "production"

// Module is a module of others.
type Module struct {
	Path, Version string
	Time          time.Time // of the version; zero when it is not known
	Dir           string    // where its source is
	Sum           string    // of go.sum
}

// Modules returns the modules with a package in what the arguments of go list -deps
// name, ordered by their paths. dir is the root of the main module.
func Modules(ctx context.Context, dir string, args ...string) ([]Module, error) {
	args = append([]string{"list", "-deps", "-json=Module"}, args...)
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are ours
	command.Dir = dir
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("supply: go list: %w: %s", err, problems.Bytes())
	}
	var all []Module
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var item struct {
			Module *struct {
				Module

				Main bool
			}
		}
		err := decoder.Decode(&item) //nolint:musttag // the names are those of go list
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("supply: go list: %w", err)
		}
		if item.Module != nil && !item.Module.Main {
			all = append(all, item.Module.Module)
		}
	}
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b Module) bool { return a.Path == b.Path }), nil
}

// licence is how the text of a licence is recognised, in lower case and with single
// spaces.
type licence struct {
	id  string // of SPDX
	has []string
}

// licences returns the known licences. Of two that fit, the first is meant.
func licences() []licence {
	return []licence{
		{"Apache-2.0", []string{"apache license version 2.0, january 2004"}},
		{"MPL-2.0", []string{"mozilla public license version 2.0"}},
		{"MPL-2.0", []string{"mozilla public license, version 2.0"}},
		{"MIT", []string{"permission is hereby granted, free of charge, to any person", "the software is provided \"as is\""}},
		{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "endorse or promote products"}},
		{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	}
}

// Licence returns the licence of a module by the text of its file; several when the file
// has several, as "MIT AND Apache-2.0".
func Licence(module Module) (string, error) {
	files, err := filepath.Glob(filepath.Join(module.Dir, "*"))
	if err != nil {
		return "", err
	}
	for _, file := range files {
		name := strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		if name != "license" && name != "licence" && name != "copying" {
			continue
		}
		text, err := os.ReadFile(file) //nolint:gosec // of the module cache
		if err != nil {
			return "", fmt.Errorf("supply: licence of %s: %w", module.Path, err)
		}
		if id := recognise(string(text)); id != "" {
			return id, nil
		}
	}
	return "", fmt.Errorf("supply: %s has no licence that is known", module.Path)
}

func recognise(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	if strings.Contains(text, "two different licenses: mit and apache") {
		return "MIT AND Apache-2.0"
	}
	for _, licence := range licences() {
		if !slices.ContainsFunc(licence.has, func(phrase string) bool { return !strings.Contains(text, phrase) }) {
			return licence.id
		}
	}
	return ""
}
