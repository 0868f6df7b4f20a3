package scan

import (
	"bytes"
	"strings"
)

// Kind is the type of a file by its content.
type Kind string

// The supported kinds.
const (
	JPEG Kind = "jpeg"
	PNG  Kind = "png"
	WebP Kind = "webp"
	GIF  Kind = "gif" // of an animation, the first image
	PDF  Kind = "pdf"
)

// sniff returns the kind of a file by its first bytes, or a sheet_type_unsupported
// error that says what the file is and what to do. It ignores the name and the
// Content-Type, which are only claims.
func sniff(data []byte) (Kind, error) {
	switch {
	case len(data) == 0:
		return "", unsupported("The file is empty.")
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG, nil
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG, nil
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return GIF, nil
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return WebP, nil
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
	return refused(TypeUnsupported, what+" Send the sheet as JPEG, PNG, WebP, GIF or PDF.", nil)
}

// otherKind says what an unsupported file is.
func otherKind(data []byte) string {
	for _, magic := range []struct{ prefix, what string }{
		{"PK\x03\x04", "This is a ZIP archive, or a Word, Excel or PowerPoint file."},
		{"PK\x05\x06", "This is an empty ZIP archive."},
		{"Rar!", "This is a RAR archive."},
		{"7z\xbc\xaf\x27\x1c", "This is a 7z archive."},
		{"\x1f\x8b", "This is a gzip file."},
		{"II*\x00", "This is a TIFF image."},
		{"MM\x00*", "This is a TIFF image."},
		{"BM", "This is a BMP image."},
		{"\xff\x0a", "This is a JPEG XL image."},
		{"\x00\x00\x00\x0cJXL ", "This is a JPEG XL image."},
		{"\x00\x00\x00\x0cjP  ", "This is a JPEG 2000 image."},
		{"\xd0\xcf\x11\xe0", "This is an old Word or Excel file."},
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
		return "This is an SVG drawing."
	case strings.HasPrefix(text, "<"):
		return "This is a web page, not the sheet itself; the site may require a login."
	}
	return "The file is not a supported image or PDF."
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
			return "AVIF images are not supported. Please convert to JPEG."
		case "heic", "heix", "heim", "heis", "hevc", "hevx":
			return heic
		}
	}
	if brand := string(data[8:12]); brand == "mif1" || brand == "msf1" {
		return heic
	}
	return "This is a video."
}

const heic = "HEIC images are not supported. Please convert to JPEG " +
	"(on an iPhone: Settings, Camera, Formats, Most Compatible; or send a screenshot)."
