// Caddy as the tests run it: pinned by go.mod, with the standard modules and nothing of ours, so
// that HTTP/3 is also proven against a server by other hands (quic-go).
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

func main() {
	caddycmd.Main()
}
