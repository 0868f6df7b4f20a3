// Package sites knows the listing sites: their hosts and what each can give
// (sites.json), and for a site that needs it an [Adapter], in a file of its own,
// with the places of its values and the canonical form of its URLs.
package sites
