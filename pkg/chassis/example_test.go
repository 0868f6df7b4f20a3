package chassis_test

import (
	"fmt"

	"ushuru/pkg/chassis"
)

func ExampleParse() {
	code, ok := chassis.Parse("DAA-NKE165-AEXEK")
	fmt.Println(code.Prefix, code.Code, code.Suffix, ok)
	_, ok = chassis.Parse("7161960") // a serial number
	fmt.Println(ok)
	// Output:
	// DAA NKE165 AEXEK true
	// false
}

func ExampleParseAll() {
	for _, code := range chassis.ParseAll("DBA-KSP130 / DBA-NSP130") {
		fmt.Println(code.Code)
	}
	// Output:
	// KSP130
	// NSP130
}

// A body letter that one side omits is no difference; two letters are.
func ExampleStemMatch() {
	fmt.Println(chassis.StemMatch("NKE165G", "NKE165"), chassis.StemMatch("ZGE20G", "ZGE20W"))
	// Output: true false
}
