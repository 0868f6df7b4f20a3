// Package bench measures and evaluates the service: benchmarks and evaluations.
package bench
