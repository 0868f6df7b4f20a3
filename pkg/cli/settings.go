package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"ushuru/pkg/match/naming"
	"ushuru/pkg/redisx"
)

// A tag of the settings in config.go besides those of kong: range:"1..5" has the bounds of a
// number, a duration or a size.
const tagRange = "range"

// checkRanges returns an error for each setting that is out of its range.
func checkRanges(flags []*kong.Flag) error {
	var errs []error
	for _, flag := range flags {
		if bounds := flag.Tag.Get(tagRange); bounds != "" {
			errs = append(errs, checkRange(flag, bounds))
		}
	}
	return errors.Join(errs...)
}

func checkRange(flag *kong.Flag, bounds string) error {
	from, to, _ := strings.Cut(bounds, "..")
	lowest, err1 := bound(flag.Target.Type(), from)
	highest, err2 := bound(flag.Target.Type(), to)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("the range of %s: %w", flag.Envs[0], err) // a mistake in config.go
	}
	if value := flag.Target.Int(); value < lowest || value > highest {
		return fmt.Errorf("%s must be between %s and %s; it is %v", flag.Envs[0], from, to, flag.Target.Interface())
	}
	return nil
}

// bound parses the bound of a range for a setting of a type.
func bound(of reflect.Type, text string) (int64, error) {
	if of == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		return int64(d), err
	}
	return strconv.ParseInt(text, 10, 64)
}

func isSecret(flag *kong.Flag) bool { return flag.Target.Type() == reflect.TypeFor[Secret]() }

// isURL reports whether a setting is a URL, of which only a password is secret.
func isURL(flag *kong.Flag) bool { return flag.PlaceHolder == "URL" }

// fileSuffix ends the name of a variable with the name of a file that has a secret.
const fileSuffix = "_FILE"

// maxSecretFile bounds a file with a secret.
const maxSecretFile = 64 << 10

// secretFromFile is a kong resolver: a secret X can be in the file that X_FILE names, as
// container platforms mount it. A line end at the end of the file is not part of it.
func secretFromFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !isSecret(flag) {
		return nil, nil //nolint:nilnil // kong goes on with the environment
	}
	for _, env := range flag.Envs {
		name := os.Getenv(env + fileSuffix)
		if name == "" {
			continue
		}
		if os.Getenv(env) != "" {
			return nil, fmt.Errorf("%s and %s%s are both set", env, env, fileSuffix)
		}
		info, err := os.Stat(name) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", env, fileSuffix, err)
		}
		if !info.Mode().IsRegular() || info.Size() > maxSecretFile {
			return nil, fmt.Errorf("%s%s: %s is not a file with a secret", env, fileSuffix, name)
		}
		data, err := os.ReadFile(name) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", env, fileSuffix, err)
		}
		secret := strings.TrimRight(string(data), "\r\n")
		if secret == "" {
			return nil, fmt.Errorf("%s%s: %s is empty", env, fileSuffix, name)
		}
		return secret, nil
	}
	return nil, nil //nolint:nilnil // there is no such file
}

// settingNames returns the names of all environment variables that a command line reads.
func settingNames(app *kong.Application) map[string]bool {
	names := map[string]bool{}
	for _, node := range append(app.Leaves(true), app.Node) {
		for _, flag := range node.Flags {
			for _, env := range flag.Envs {
				names[env] = true
				if isSecret(flag) {
					names[env+fileSuffix] = true
				}
			}
		}
	}
	return names
}

const (
	ourPrefix = "USHURU_"
	// testPrefix begins the variables of the tests.
	testPrefix = ourPrefix + "TEST"
	// minSimilar is the length from which a name that differs in a letter counts as
	// misspelled: shorter ones are too many.
	minSimilar = 7
	// minFarther is the length from which one counts that differs in maxFar letters.
	minFarther, maxFar = 10, 2
)

// serviceLink matches the variables that Kubernetes and Docker set for services beside this
// one, which may be named after it.
var serviceLink = regexp.MustCompile(
	`^\w+(_SERVICE_HOST|_SERVICE_PORT\w*|_PORT_\d+_(TCP|UDP|SCTP)\w*)=|^\w+_PORT=(tcp|udp|sctp)://`)

// unknownSettings returns a sentence for each variable of the environment that looks like a
// setting and is not one.
func unknownSettings(known map[string]bool, environ []string) (sentences []string) {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if known[name] || strings.HasPrefix(name, testPrefix) || serviceLink.MatchString(entry) {
			continue
		}
		bare, ours := strings.CutPrefix(name, ourPrefix)
		nearest := slices.MinFunc(names, func(a, b string) int {
			far := func(to string) int { return min(naming.Distance(name, to), naming.Distance(bare, to)) }
			return cmp.Compare(far(a), far(b))
		})
		far := min(naming.Distance(name, nearest), naming.Distance(bare, nearest))
		similar := len(name) >= minSimilar && far <= 1 || len(name) >= minFarther && far <= maxFar
		switch {
		case similar:
			sentences = append(sentences, fmt.Sprintf("%s is not a setting; did you mean %s?", name, nearest))
		case ours:
			sentences = append(sentences, name+" is not a setting")
		}
	}
	return sentences
}

// warnSecretFlags logs which secrets of a command line stand in the process list, where
// other users of the machine read them, and the variables to use instead.
func (r *run) warnSecretFlags(parsed *kong.Context) {
	for _, element := range parsed.Path {
		flag := element.Flag
		if flag == nil || element.Resolved || !isSecret(flag) {
			continue
		}
		value := flag.Target.String()
		if isURL(flag) && redisx.Redact(value) == value {
			continue // a URL without a password
		}
		r.log.Warn(fmt.Sprintf("--%s stands in the process list: set %s instead", flag.Name, flag.Envs[0]))
	}
}
