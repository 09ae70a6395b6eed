// Command peer is what another stack, quic-go and net/http, makes of the work that Photofinish does.
//
//	peer           races many origins (survey.go)
//	peer trials    makes cold connections to one origin, one after the other (trials.go)
//	peer versions  says what it is made of
//
// The first two read one JSON document from standard input; each prints one.
package main

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	work := ""
	if len(arguments) > 0 {
		work = arguments[0]
	}
	switch work {
	case "":
		return survey()
	case "trials":
		return trials()
	case "versions":
		return versions()
	default:
		return fmt.Errorf("there is no %q: trials, versions, or nothing", work)
	}
}

// versions prints those of Go and of the modules that speak HTTP, as they were compiled in.
func versions() error {
	found := map[string]string{"Go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/quic-go/quic-go" {
				found["quic-go"] = module.Version
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// rootsWith gives the system's roots and those of the file.
func rootsWith(file string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return roots, nil
}
