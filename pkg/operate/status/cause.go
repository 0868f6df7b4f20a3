package status

import (
	_ "embed" // the table
	"sync"
	"time"

	"github.com/oasdiff/yaml"
)

// The thresholds of the causes, for the status and for Prometheus alike.
const (
	aiPercent          = 80
	aiFailures         = 3 // calls of a model in a row
	keyPercent         = 90
	redisPercent       = 80
	authorityDownAfter = 5 * time.Minute
	peopleWait         = time.Minute
	batchWait          = time.Hour
	enoughTries        = 10 // pages before a site counts as unreadable
	enoughErrors       = 10 // answers of the API
	// errorsPerThousand is 14.4 times what 99.9 % in 30 days allow: two percent of the
	// month's errors in an hour.
	errorsPerThousand = 14.4
	// roleKept is for how long a role that no worker has any more is missed.
	roleKept = 7 * 24 * time.Hour
	// wrongClock is how far a clock may be from that of Redis: leases take seconds.
	wrongClock = 5 * time.Second
	// upgradeTakes is for how long two versions work beside one another in an upgrade.
	upgradeTakes = 30 * time.Minute
)

// Severity says how fast an operator must know of a cause.
type Severity string

// A page wakes the operator: work stands still. A ticket waits for the day.
const (
	page   Severity = "page"
	ticket Severity = "ticket"
)

// cause is one thing that can be ill, as the table has it. What only the alerts have is left out
// here.
type cause struct {
	Code     string   `json:"code"`
	Alert    string   `json:"alert"`
	Severity Severity `json:"severity"`
	Command  string   `json:"command"`
	After    []string `json:"after"`
}

//go:embed causes.yaml
var causesFile []byte

// causes is the table of causes. It panics when the table is broken, which only a broken build has.
var causes = sync.OnceValue(func() (all []cause) {
	if _, err := yaml.Unmarshal(causesFile, &all, yaml.DecodeOpts{}); err != nil {
		panic("status: causes.yaml: " + err.Error())
	}
	return all
})
