package scan

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/fetch"
	"ushuru/pkg/message"
)

// Codes of the errors of this package.
const (
	HostUnsupported = "sheet_host_unsupported"   // the URL's host is not on the list
	NotFound        = "sheet_not_found"          // the site does not have the sheet
	Blocked         = "sheet_blocked"            // the site refuses the download; temporary for 429 and 503
	TooLarge        = "sheet_too_large"          // more than MaxBytes
	TypeUnsupported = "sheet_type_unsupported"   // by its content neither JPEG, PNG, WebP, GIF nor PDF
	Damaged         = "sheet_damaged"            // of a supported type, but it cannot be decoded
	Encrypted       = "sheet_encrypted"          // a PDF with a password
	TooManyPages    = "sheet_too_many_pages"     // more than MaxPages
	TooManyPixels   = "sheet_too_many_pixels"    // more than MaxPixels, or too much memory to decode
	TooSmall        = "sheet_too_small"          // too few pixels to be read, or a strip
	Blank           = "sheet_blank"              // a page without content
	Timeout         = "sheet_timeout"            // not decoded in time; temporary when it waited for others
	Unavailable     = "sheet_reader_unavailable" // our own PDF reader could not be started; temporary
)

func refused(code string, values message.Values, cause error) error {
	return &fetch.Error{Notice: message.New("error/"+code, values), Cause: cause}
}

// errTooLong means that the file itself needs more of the processor than one may: another try does too.
var errTooLong = errors.New("scan: the file takes too long to decode")

// tooLong refuses a file that takes too long.
func tooLong(cause error) error { return refused(Timeout+".file", nil, cause) }

// interrupted returns the error for the caller when ctx has ended: a timeout or the
// cancellation. It returns nil when ctx has not ended.
func interrupted(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); errors.Is(cause, errTooLong) {
		return tooLong(cause)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Error{Notice: message.New("error/"+Timeout, nil), Cause: err, Retryable: true}
	}
	return err
}

// defaultTimeout is the maximum time of one Load, with waiting.
const defaultTimeout = 30 * time.Second

// How long the processor may be used for a picture and for a document. A picture of a phone
// takes half a second.
const (
	maxPicture  = slowness * 3 * time.Second
	maxDocument = slowness * 10 * time.Second
)
