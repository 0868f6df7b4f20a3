// Package extension offers the button for browsers: the page that says how it is installed,
// and its archive. The other files of this folder are the extension itself.
package extension

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"ushuru/api/web/frame"
	"ushuru/pkg/plainjson"
)

//go:embed _locales *.css *.html *.js *.json *.png
var files embed.FS

//go:embed templates
var templates embed.FS

const (
	// archivePath is where the extension for browsers is downloaded.
	archivePath = "/ext.zip"
	// serverFile has the address of the server that the extension is filled in with.
	serverFile = "server.json"
)

// packed is the time of all files in the archive, so that it has the same bytes always.
var packed = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Pages are the page and the archive of the extension.
type Pages struct{ frame *frame.Frame }

// New reads the embedded template.
func New(f *frame.Frame) (*Pages, error) {
	if err := f.Add(templates, "templates"); err != nil {
		return nil, err
	}
	return &Pages{f}, nil
}

// Register adds the addresses of the extension to a router.
func (p *Pages) Register(router *mux.Router) {
	get := []string{http.MethodGet, http.MethodHead}
	router.Handle("/extension", p.frame.Page(p.install)).Methods(get...)
	router.Handle(archivePath, p.frame.Page(p.archive)).Methods(get...)
}

// archive responds with the extension for browsers. It is filled in with the address of
// this server.
func (p *Pages) archive(w http.ResponseWriter, r *http.Request) error {
	data, err := Archive(p.frame.BaseURL(r))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="ushuru-extension.zip"`)
	frame.Send(w, http.StatusOK, "application/zip", data)
	return nil
}

// Archive returns the extension for browsers as a ZIP archive, filled in with the
// address of a server: https://ushuru.example. Equal addresses give equal bytes.
func Archive(server string) ([]byte, error) {
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
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
		return nil, fmt.Errorf("extension: %w", err)
	}
	return archive.Bytes(), nil
}

// install is the page that says how the extension is installed.
func (p *Pages) install(w http.ResponseWriter, r *http.Request) error {
	return p.frame.Render(w, r, http.StatusOK, frame.Screen{
		Name: "extension",
		Body: map[string]string{"Archive": archivePath, "Server": p.frame.BaseURL(r)},
	})
}
