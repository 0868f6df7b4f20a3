package supply_test

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ushuru/pkg/supply"
	"ushuru/pkg/testenv"
)

const root = "../.."

func modules(t *testing.T, args ...string) []supply.Module {
	t.Helper()
	all, err := supply.Modules(t.Context(), root, args...)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d modules, %v", len(all), err)
	}
	return all
}

// A new module with another licence is looked at by a person, who then adds it here.
func TestLicencesAreAllowed(t *testing.T) {
	t.Parallel()
	inProgram := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT", "MPL-2.0"}
	inTests := inProgram
	for _, part := range []struct {
		args    []string
		allowed []string
	}{
		{[]string{"-tags", supply.ProductionTag, "."}, inProgram},
		{[]string{"-test", "./..."}, inTests},
	} {
		for _, module := range modules(t, part.args...) {
			ids, err := supply.Licence(module)
			for id := range strings.SplitSeq(ids, " AND ") {
				if err != nil || !slices.Contains(part.allowed, id) {
					t.Errorf("%s %s: licence %q is not allowed, %v", module.Path, module.Version, id, err)
				}
			}
		}
	}
}

func TestLicencesAreRecognised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007":                                        "",
		"Permission to use, copy, modify, and distribute this software is not granted.":             "",
		"Apache License\n      Version 2.0, January 2004":                                           "Apache-2.0",
		"Redistribution and use in source and binary forms … to endorse or\npromote products":       "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with or without modification, are free": "BSD-2-Clause",
	} {
		module := supply.Module{Path: "example.org/m", Dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(module.Dir, "LICENSE.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if id, err := supply.Licence(module); id != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, id, err)
		}
	}
	if _, err := supply.Licence(supply.Module{Path: "example.org/m", Dir: t.TempDir()}); err == nil {
		t.Error("a module without a licence has one")
	}
}

// Nothing that only tests or the demo need is in a production build.
func TestProductionBuildHasNoTestModules(t *testing.T) {
	t.Parallel()
	production := modules(t, "-tags", supply.ProductionTag, ".")
	for _, path := range []string{
		"github.com/alicebob/miniredis/v2", "github.com/yuin/gopher-lua", "github.com/Shopify/toxiproxy/v2",
		"github.com/chromedp/chromedp", "github.com/rogpeppe/go-internal", "github.com/rs/zerolog",
		"github.com/yuin/goldmark", "go.uber.org/goleak", "pgregory.net/rapid",
	} {
		if slices.ContainsFunc(production, func(m supply.Module) bool { return m.Path == path }) {
			t.Errorf("%s is in a production build", path)
		}
	}
	file, err := os.ReadFile(filepath.Join(root, "deploy", "Dockerfile"))
	if err != nil || !strings.Contains(string(file), "go build -tags "+supply.ProductionTag+" ") {
		t.Errorf("deploy/Dockerfile builds without the tag %s, %v", supply.ProductionTag, err)
	}
}

// The bill has what the linker has put into a production build, no more and no less.
func TestBillIsThatOfTheProgram(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	program := filepath.Join(t.TempDir(), "ushuru")
	command := exec.CommandContext(t.Context(), "go", "build", "-tags", supply.ProductionTag, "-o", program, ".")
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
	for _, module := range info.Deps {
		want = append(want, "pkg:golang/"+module.Path+"@"+strings.ReplaceAll(module.Version, "+", "%2B")+" "+module.Sum)
	}
	bill, err := supply.NewBill(t.Context(), root, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, part := range bill.Components {
		line := []string{part.PURL}
		for _, p := range part.Properties {
			line = append(line, p.Value)
		}
		got = append(got, strings.Join(line, " "))
		if len(part.Licenses) != 1 || part.Licenses[0].Expression == "" {
			t.Errorf("%s has no licence", part.PURL)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the bill has\n%s\nand the program\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again, err := supply.NewBill(t.Context(), root, "v1.2.3")
	text, _ := json.Marshal(bill)
	if same, _ := json.Marshal(again); err != nil || string(same) != string(text) {
		t.Error("the same content has two bills")
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(bill.Serial) {
		t.Errorf("serial number %s", bill.Serial)
	}
}

// docs/sources.md lists every module whose version was three years old or older on the
// day when a person last looked, and says why it stays.
func TestOldModulesAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "sources.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Modules without a release for three years\n")
	section, _, _ = strings.Cut(section, "\n## ")
	day := regexp.MustCompile(`looked at on (\d{4}-\d{2}-\d{2})`).FindStringSubmatch(section)
	if !found || day == nil {
		t.Fatal("docs/sources.md has no section of old modules with the day when they were looked at")
	}
	looked, err := time.Parse(time.DateOnly, day[1])
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\S+) \\| (\\S+) \\| (.+) \\|$").FindAllStringSubmatch(section, -1) {
		listed[strings.Join(row[1:4], " ")] = false
		if len(row[4]) < len("nothing replaces it") {
			t.Errorf("docs/sources.md does not say why %s stays", row[1])
		}
	}
	for _, module := range modules(t, "-test", "./...") {
		if module.Time.IsZero() {
			t.Fatalf("the day of %s %s is not known", module.Path, module.Version)
		}
		if module.Time.AddDate(3, 0, 0).After(looked) {
			continue
		}
		row := module.Path + " " + module.Version + " " + module.Time.Format(time.DateOnly)
		if _, is := listed[row]; !is {
			t.Errorf("docs/sources.md does not list %s", row)
		}
		listed[row] = true
	}
	for row, used := range listed {
		if !used {
			t.Errorf("docs/sources.md lists %s, which is not used or not old", row)
		}
	}
}

// The notices have the licence of every module of the bill, with its text.
func TestNoticesNameEveryModule(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := supply.WriteNotices(t.Context(), &text, root, strings.TrimSpace(string(goroot))); err != nil {
		t.Fatal(err)
	}
	for _, module := range modules(t, "-tags", supply.ProductionTag, ".") {
		_, section, found := strings.Cut(text.String(), "\n"+module.Path+" "+module.Version+"\n")
		section, _, _ = strings.Cut(section, "\n\n"+strings.Repeat("=", 78)+"\n")
		if !found || len(section) < 500 {
			t.Errorf("%s %s: %d bytes of notices", module.Path, module.Version, len(section))
		}
	}
	if !strings.Contains(text.String(), "The Go Authors") {
		t.Error("the notice of Go is missing")
	}
}
