package supply

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
)

// Bill is a bill of materials in the form of CycloneDX 1.6.
type Bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"` // the same for the same content
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []Component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component Component `json:"component"`
}

// Component is one part of the program, or the program.
type Component struct {
	Type       string          `json:"type"`
	Ref        string          `json:"bom-ref"`
	Name       string          `json:"name"`
	Version    string          `json:"version,omitempty"`
	Licenses   []licenseChoice `json:"licenses"`
	PURL       string          `json:"purl"`
	Properties []property      `json:"properties,omitempty"`
}

type licenseChoice struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// NewBill returns the bill of materials of the production build in dir: its modules,
// and the standard library. version is that of the program; it may be empty.
func NewBill(ctx context.Context, dir, version string) (*Bill, error) {
	modules, err := Modules(ctx, dir, "-tags", ProductionTag, ".")
	if err != nil {
		return nil, err
	}
	bill := &Bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{newComponent("application", "ushuru", version, "MIT")},
		Components: []Component{
			newComponent("library", "std", strings.TrimPrefix(runtime.Version(), "go"), "BSD-3-Clause"),
		},
	}
	for _, module := range modules {
		id, err := Licence(module)
		if err != nil {
			return nil, err
		}
		part := newComponent("library", module.Path, module.Version, id)
		if module.Sum != "" {
			part.Properties = []property{{"go:sum", module.Sum}}
		}
		bill.Components = append(bill.Components, part)
	}
	whole := dependency{Ref: bill.Metadata.Component.Ref}
	for _, part := range bill.Components {
		whole.DependsOn = append(whole.DependsOn, part.Ref)
	}
	bill.Dependencies = []dependency{whole}
	content, err := json.Marshal(bill)
	if err != nil {
		return nil, fmt.Errorf("supply: bill: %w", err)
	}
	bill.Serial = serial(content)
	return bill, nil
}

// serial returns the UUID (version 8) of a content.
func serial(content []byte) string {
	u := sha256.Sum256(content)
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

func newComponent(kind, path, version, licence string) Component {
	purl := "pkg:golang/" + path
	if version != "" {
		purl += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	return Component{
		Type: kind, Ref: purl, Name: path, Version: version, PURL: purl,
		Licenses: []licenseChoice{{licence}},
	}
}
