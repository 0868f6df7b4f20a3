// Command sbom prints the bill of materials of the production build as CycloneDX JSON.
// It is run in the root of the repository:
//
//	go run ./pkg/supply/sbom [VERSION] > sbom.cdx.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"ushuru/pkg/supply"
)

func main() {
	version := ""
	if len(os.Args) > 1 {
		version = os.Args[1]
	}
	bill, err := supply.NewBill(context.Background(), ".", version)
	if err == nil {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(bill)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}
