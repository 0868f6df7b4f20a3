// Package generated is where a test compiles the Go client that oapi-codegen makes of
// openapi.yaml.
package generated
