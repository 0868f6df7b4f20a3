package frame

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed assets
var assetFiles embed.FS

// readAssets reads the embedded files.
func readAssets() (*Files, error) {
	names, err := fs.Glob(assetFiles, "assets/*")
	if err != nil {
		return nil, fmt.Errorf("frame: assets: %w", err)
	}
	return ReadFiles("/static/", assetFiles, names...)
}
