package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"ushuru/pkg/cli/console"
)

// What was built, as the build says:
//
//	go build -ldflags "-X ushuru/pkg/cli.buildVersion=1.4.0 -X ushuru/pkg/cli.buildCommit=… -X ushuru/pkg/cli.buildDate=…"
//
// What it does not say is what Go recorded of the repository.
var buildVersion, buildCommit, buildDate string

// versionCommand prints the version.
type versionCommand struct{ console.Format }

// Run is called by kong.
func (c versionCommand) Run(r *run) error {
	version, commit, date := Build()
	record := map[string]string{"version": version, "commit": commit, "date": date}
	return console.Said(record, "%s", versionText())(r.Streams, c.Format)
}

// versionText returns version, commit and date of the program. The date is that of the
// build, or of the commit.
func versionText() string {
	version, commit, date := Build()
	return fmt.Sprintf("ushuru %s, commit %s, %s", version, commit, date)
}

// Build returns what was built.
func Build() (version, commit, date string) {
	version, commit, date = buildVersion, buildCommit, buildDate
	if info, ok := debug.ReadBuildInfo(); ok {
		version = cmp.Or(version, info.Main.Version)
		recorded := map[string]string{}
		for _, setting := range info.Settings {
			recorded[setting.Key] = setting.Value
		}
		if commit == "" && recorded["vcs.revision"] != "" {
			commit = recorded["vcs.revision"]
			if recorded["vcs.modified"] == "true" {
				commit += " (modified)"
			}
		}
		date = cmp.Or(date, recorded["vcs.time"])
	}
	return cmp.Or(version, "unknown"), cmp.Or(commit, "unknown"), cmp.Or(date, "date unknown")
}

// shortVersion returns the version of the program for lists of processes, else its
// commit.
func shortVersion() string {
	const digits = 12
	_, commit, _ := Build()
	return cmp.Or(buildVersion, commit[:min(len(commit), digits)])
}
