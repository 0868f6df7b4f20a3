package webhooks

import (
	"net/http"

	"ushuru/api/problem"
	"ushuru/pkg/webhook"
)

// Each is named by its code.
var (
	errNotFound      = problem.NotFound("webhook_not_found")
	errURLMissing    = problem.BadRequest("url_missing.webhook").Of("url")
	errEventsInvalid = problem.BadRequest("events_invalid").Of("events")
	errURLInsecure   = problem.BadRequest("url_insecure").Of("url")
	ErrTooMany       = problem.New(http.StatusConflict, "too_many_webhooks", problem.AtMost(webhook.MaxEndpoints))
)
