package frame

import (
	"embed"
	"fmt"
)

//go:embed assets
var assetFiles embed.FS

// readAssets reads the embedded files.
func readAssets() (*Files, error) {
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("frame: assets: %w", err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = "assets/" + entry.Name()
	}
	return ReadFiles("/static/", assetFiles, names...)
}
