package scan

import (
	"context"
	"errors"
	"time"

	"ushuru/pkg/fetch"
)

// Codes of the errors of this package.
const (
	HostUnsupported = "sheet_host_unsupported"   // the URL's host is not on the list
	NotFound        = "sheet_not_found"          // the site has no such picture (any more)
	Blocked         = "sheet_blocked"            // the site turned us away; temporary for 429 and 5xx
	TooLarge        = "sheet_too_large"          // more than MaxBytes
	TypeUnsupported = "sheet_type_unsupported"   // by its content neither JPEG, PNG, WebP, GIF nor PDF
	Damaged         = "sheet_damaged"            // of a supported type, but it cannot be decoded
	Encrypted       = "sheet_encrypted"          // a PDF that wants a password
	TooManyPages    = "sheet_too_many_pages"     // more than MaxPages
	TooManyPixels   = "sheet_too_many_pixels"    // more than MaxPixels, or too much memory to decode
	TooSmall        = "sheet_too_small"          // too few pixels to be read, or a strip
	Blank           = "sheet_blank"              // nothing to be seen on it
	Timeout         = "sheet_timeout"            // not decoded in time; temporary
	Unavailable     = "sheet_reader_unavailable" // our own PDF reader could not be started; temporary
)

func refused(code, message string, cause error) error {
	return &fetch.Error{Code: code, Message: message, Cause: cause}
}

// interrupted returns what the end of ctx means to the caller: a timeout, or
// just the cancellation; nil when ctx goes on.
func interrupted(ctx context.Context) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Error{
			Code: Timeout, Message: "The sheet could not be decoded in time. Please try again, or send it as a JPEG.",
			Cause: err, Retryable: true,
		}
	}
	return err
}

// defaultTimeout is for all of one Load, waiting for its turn included.
const defaultTimeout = 30 * time.Second
