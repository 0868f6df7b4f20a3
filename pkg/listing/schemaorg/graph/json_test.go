package graph

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzBlock(f *testing.F) {
	for _, seed := range []string{
		`[{"@type":"Car","x":"\u0040\ud83d\ude97'"},{"@id":"#o","price":"24.500,00 €"}]`,
		`<![CDATA[{"@graph":[{"@id":"#a","mainEntity":{"@id":"#a"}}]}]]>`, `{&quot;@type&quot;:&quot;Car&quot;}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, block string) {
		g := &Graph{left: maxJSONSteps}
		_, ok := (&jsonReader{s: block, g: g}).block()
		if !ok && json.Valid([]byte(block)) && strings.Count(block, "{")+strings.Count(block, "[") < MaxDepth && len(block) < 10_000 {
			t.Errorf("good JSON is refused: %q", block)
		}
	})
}
