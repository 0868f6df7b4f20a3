package cli

import (
	"fmt"
	"reflect"

	"github.com/alecthomas/kong"

	"ushuru/pkg/redisx"
)

// warnSecretFlags logs which secrets of a command line stand in the process list, where
// other users of the machine read them, and the variables to use instead.
func (r *run) warnSecretFlags(parsed *kong.Context) {
	for _, element := range parsed.Path {
		flag := element.Flag
		if flag == nil || element.Resolved || flag.Target.Type() != reflect.TypeFor[Secret]() {
			continue
		}
		value := flag.Target.String()
		if isURL(flag) && redisx.Redact(value) == value {
			continue // a URL without a password
		}
		r.log.Warn(fmt.Sprintf("--%s stands in the process list: set %s instead", flag.Name, flag.Envs[0]))
	}
}
