package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"ushuru/pkg/redisx"
)

// ErrNoAttachment means that a job has no attachment, or that it has ended.
var ErrNoAttachment = errors.New("jobs: no such attachment")

// AttachmentTTL is for an attachment whose job was never created. It is longer than
// the deadline of an interactive job.
const AttachmentTTL = 30 * time.Minute

// AttachmentName names the attachment of a job in the account of its owner's key.
func AttachmentName(dedupKey string) string { return "upload:" + dedupKey }

// Attachment returns the page or file that a caller sent for a job.
func (s *Store) Attachment(ctx context.Context, id string) ([]byte, error) {
	packed, err := s.redis.Get(ctx, keyAttachment(id)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrNoAttachment
	}
	if err != nil {
		return nil, fmt.Errorf("jobs: attachment: %w", err)
	}
	return redisx.Unpack(packed)
}
