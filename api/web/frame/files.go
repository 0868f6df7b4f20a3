package frame

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Files are files that belong to pages: styles, scripts and icons. Their addresses have a hash
// of their content, so that browsers keep them forever.
type Files struct {
	addresses map[string]string // by the names of the files
	files     map[string]file   // by their addresses
}

type file struct {
	packed    []byte // gzip
	mediaType string
}

// ReadFiles reads the named files of a file system. Their addresses begin with prefix, which
// ends in a slash. A file whose name ends in .gz is served as what is packed in it.
func ReadFiles(prefix string, from fs.FS, names ...string) (*Files, error) {
	f := &Files{map[string]string{}, map[string]file{}}
	for _, name := range names {
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, fmt.Errorf("frame: %w", err)
		}
		packed := data
		if plain, is := strings.CutSuffix(name, ".gz"); !is {
			packed = pack(data)
		} else if data, err = unpack(data); err != nil {
			return nil, fmt.Errorf("frame: %s: %w", name, err)
		} else {
			name = plain
		}
		name = path.Base(name)
		sum := sha256.Sum256(data)
		ext := path.Ext(name)
		address := prefix + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		f.addresses[name] = address
		f.files[address] = file{packed, mime.TypeByExtension(ext)}
	}
	return f, nil
}

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

// Address returns the address of a file.
func (f *Files) Address(name string) (string, error) {
	address, ok := f.addresses[name]
	if !ok {
		return "", fmt.Errorf("frame: no file %q", name)
	}
	return address, nil
}

// Size returns how many bytes of a file are sent to a browser that reads gzip; 0 when
// there is no such file.
func (f *Files) Size(name string) int { return len(f.files[f.addresses[name]].packed) }

// ServeHTTP responds with the file at the path of the request.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := f.files[r.URL.Path]
	if !ok {
		http.Error(w, http.StatusText(http.StatusNotFound), http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if found.mediaType != "image/svg+xml" { // which a browser can show as a page of its own
		h.Del("Content-Security-Policy")
		h.Del("Referrer-Policy")
	}
	body := found.packed
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else {
		var err error
		if body, err = unpack(body); err != nil {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
	}
	Send(w, http.StatusOK, found.mediaType, body)
}

// Send responds with a body. The server compresses it for a browser that can read that.
func Send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the visitor may have left
}

// SendPacked responds with a body as small as gzip makes it: what the server itself does is
// quicker, and a tenth larger.
func SendPacked(w http.ResponseWriter, r *http.Request, status int, mediaType string, body []byte) {
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		body = pack(body)
	}
	Send(w, status, mediaType, body)
}

// pack returns data in the format gzip.
func pack(data []byte) []byte {
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	_, _ = writer.Write(data)
	_ = writer.Close() // nothing fails in memory
	return packed.Bytes()
}

// unpack returns what is in data of the format gzip. The files are our own, so it need
// not be bounded.
func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	data, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	return data, nil
}

// With returns these files and others. Of two with one name it has the other.
func (f *Files) With(others *Files) *Files {
	both := &Files{maps.Clone(f.addresses), maps.Clone(f.files)}
	maps.Copy(both.addresses, others.addresses)
	maps.Copy(both.files, others.files)
	return both
}
