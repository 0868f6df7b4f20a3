// Package lab measures and evaluates the service: benchmarks, evaluations and
// simulated inputs. Nothing in it serves a caller.
package lab
