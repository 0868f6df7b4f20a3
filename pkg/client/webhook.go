package client

import "time"

// Webhook is a URL that the API notifies of events.
type Webhook struct {
	Raw

	ID       string    `json:"id"`
	URL      string    `json:"url"`
	Events   []string  `json:"events"` // empty: only of the batches that name it
	Created  time.Time `json:"created"`
	Disabled string    `json:"disabled"` // why nothing is sent; empty while it is enabled
	State    string    `json:"state"`    // pending until the receiver has proved that it wants events, then verified
	Secret   string    `json:"secret"`   // only once, when it is created
}

// WebhookRequest creates or changes a webhook.
type WebhookRequest struct {
	URL    string   `json:"url,omitempty"`
	Events []string `json:"events,omitempty"`
}

// Delivery is one event for one webhook.
type Delivery struct {
	Raw

	ID       string            `json:"id"` // the header webhook-id, the same in every attempt
	Event    string            `json:"event"`
	Created  time.Time         `json:"created"`
	State    string            `json:"state"` // pending, delivered or failed
	Tries    int               `json:"tries"`
	Attempts []deliveryAttempt `json:"attempts"` // the last ones, oldest first
}

// deliveryAttempt is one request to a webhook.
type deliveryAttempt struct {
	Status int    `json:"status"` // of HTTP; 0 without a response
	Error  string `json:"error"`
}
