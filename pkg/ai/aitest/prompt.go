package aitest

import (
	"encoding/json"
	"regexp"
	"strings"
)

// blocks finds data in a message, as a model would: objects, one a line,
// between "BEGIN token name" and "END token".
var blocks = regexp.MustCompile(`(?ms)^BEGIN (\w+) (\w+)\n(.*?)^END (\w+)$`)

// data is what a prompt holds, by the name of the block.
type data map[string][]map[string]string

// readData reads the messages of the user.
func readData(r *chatRequest) data {
	found := data{}
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		for _, block := range blocks.FindAllStringSubmatch(m.text, -1) {
			if block[1] != block[4] {
				continue
			}
			for line := range strings.Lines(block[3]) {
				row := map[string]string{}
				if json.Unmarshal([]byte(line), &row) == nil {
					found[block[2]] = append(found[block[2]], row)
				}
			}
		}
	}
	return found
}
