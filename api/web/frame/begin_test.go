package frame_test

import (
	"testing"

	"ushuru/api/web/frame"
)

func TestASentenceBeginsWithACapital(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "siku 45": "Siku 45", "45 days": "45 days", "ée": "Ée", "“a”": "“a”", "\xff": "\xff", "Chosen": "Chosen",
	} {
		if got := frame.Begin(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
