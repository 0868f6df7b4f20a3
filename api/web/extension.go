package web

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"ushuru/pkg/plainjson"
)

//go:embed all:extension
var extensionFiles embed.FS

const (
	// extensionPath is where the extension for browsers is downloaded.
	extensionPath = "/ext.zip"
	// serverFile has the address of the server that the extension is filled in with.
	serverFile = "server.json"
)

// packed is the time of all files in the archive, so that it has the same bytes always.
var packed = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// extension responds with the extension for browsers. It is filled in with the address of
// this server.
func (p *Pages) extension(w http.ResponseWriter, r *http.Request) error {
	data, err := Extension(p.baseURL(r))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="ushuru-extension.zip"`)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the visitor may have left
	}
	return nil
}

// Extension returns the extension for browsers as a ZIP archive, filled in with the
// address of a server: https://ushuru.example. Equal addresses give equal bytes.
func Extension(server string) ([]byte, error) {
	files, err := fs.Sub(extensionFiles, "extension")
	if err != nil {
		return nil, fmt.Errorf("web: extension: %w", err)
	}
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if err == nil && path == serverFile {
			data, err = plainjson.Encode(map[string]string{"server": server})
		}
		if err != nil {
			return err
		}
		file, err := writer.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: packed})
		if err == nil {
			_, err = file.Write(data)
		}
		return err
	})
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("web: extension: %w", err)
	}
	return archive.Bytes(), nil
}

// install is the page that says how the extension is installed.
func (p *Pages) install(w http.ResponseWriter, r *http.Request) error {
	return p.render(w, r, http.StatusOK, screen{
		Name: "extension", Title: "extension.title", Body: map[string]string{"Archive": extensionPath, "Server": p.baseURL(r)},
	})
}
