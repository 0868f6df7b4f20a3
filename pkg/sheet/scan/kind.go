package scan

import (
	"bytes"
	"strings"

	"ushuru/pkg/message"
)

// sniff returns the kind of a file by its first bytes, or a sheet_type_unsupported
// error that says what the file is and what to do. It ignores the name and the
// Content-Type, which are only claims.
func sniff(data []byte) (Kind, error) {
	kind := kindOf(data)
	switch {
	case len(data) == 0:
		return "", unsupported("file_empty")
	case kind != "":
		return kind, nil
	case bytes.HasPrefix(trimmed(data), []byte("%PDF-")):
		return PDF, nil
	}
	return "", unsupported(otherKind(data))
}

// trimmed removes a byte order mark and white space before the content.
func trimmed(data []byte) []byte {
	head := data[:min(len(data), 1024)]
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\x00")
}

func unsupported(what string) error {
	return refused(TypeUnsupported, message.Values{"kind": what}, nil)
}

// otherKind returns the word for what an unsupported file is.
func otherKind(data []byte) string {
	for _, magic := range []struct{ prefix, what string }{
		{"PK\x03\x04", "file_zip"},
		{"PK\x05\x06", "file_zip_empty"},
		{"Rar!", "file_rar"},
		{"7z\xbc\xaf\x27\x1c", "file_7z"},
		{"\x1f\x8b", "file_gzip"},
		{"II*\x00", "file_tiff"},
		{"MM\x00*", "file_tiff"},
		{"BM", "file_bmp"},
		{"\xff\x0a", "file_jxl"},
		{"\x00\x00\x00\x0cJXL ", "file_jxl"},
		{"\x00\x00\x00\x0cjP  ", "file_jp2"},
		{"\xd0\xcf\x11\xe0", "file_office"},
	} {
		if bytes.HasPrefix(data, []byte(magic.prefix)) {
			return magic.what
		}
	}
	if brand := isoBrand(data); brand != "" {
		return brand
	}
	text := strings.ToLower(string(trimmed(data)))
	switch {
	case strings.Contains(text, "<svg"):
		return "file_svg"
	case strings.HasPrefix(text, "<"):
		return "file_page"
	}
	return "file_unknown"
}

// isoBrand reads the brands of an ISO base media file (ISO/IEC 14496-12, 4.3):
// images of iPhones, AVIF and videos.
func isoBrand(data []byte) string {
	if len(data) < 12 || string(data[4:8]) != "ftyp" {
		return ""
	}
	for at := 8; at+4 <= min(len(data), 64); at += 4 {
		switch string(data[at : at+4]) {
		case "avif", "avis":
			return "file_avif"
		case "heic", "heix", "heim", "heis", "hevc", "hevx":
			return heic
		}
	}
	if brand := string(data[8:12]); brand == "mif1" || brand == "msf1" {
		return heic
	}
	return "file_video"
}

const heic = "file_heic"
