// Cold connections to one origin, one after the other, as the laboratory counts them: each with a new client, new
// sockets and no session to resume, and all of it closed before the next begins.

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

type trialsOrder struct {
	// race, alt-svc or h3.
	Mode       string  `json:"mode"`
	Origin     origin  `json:"origin"`
	CAFile     string  `json:"ca"`
	Trials     int     `json:"trials"`
	DeadlineMs float64 `json:"deadlineMs"`
}

type trial struct {
	Adopted       *string  `json:"adopted"`
	EstablishedMs *float64 `json:"establishedMs"`
	FirstByteMs   *float64 `json:"firstByteMs"`
	Error         string   `json:"error,omitempty"`
}

// arrival is a response, and when the connection that it came over was secure.
type arrival struct {
	response    *http.Response
	established time.Time
}

// scene is what all trials share.
type scene struct {
	url, address string
	tls          *tls.Config
}

// A mode makes one request in its own way. It gives the response with when it began and when the headers were there;
// what it started ends with the context, and `ended` waits for that.
type mode func(context.Context, *scene) (began time.Time, first arrival, ended func(), err error)

var modes = map[string]mode{"race": race, "alt-svc": altSvc, "h3": h3Alone}

func trials() error {
	var o trialsOrder
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	connect, ok := modes[o.Mode]
	if !ok {
		return fmt.Errorf("there is no mode %q", o.Mode)
	}
	roots, err := rootsWith(o.CAFile)
	if err != nil {
		return err
	}
	shared := &scene{
		url:     fmt.Sprintf("https://%s/", net.JoinHostPort(o.Origin.Host, fmt.Sprint(o.Origin.Port))),
		address: net.JoinHostPort(o.Origin.Address, fmt.Sprint(o.Origin.Port)),
		// Without a cache of sessions nothing is resumed.
		tls: &tls.Config{RootCAs: roots},
	}
	deadline := time.Duration(o.DeadlineMs * float64(time.Millisecond))
	made := make([]trial, 0, o.Trials)
	for range o.Trials {
		made = append(made, cold(connect, shared, deadline))
	}
	return json.NewEncoder(os.Stdout).Encode(made)
}

// cold makes one trial, and returns only once nothing of it is left.
func cold(connect mode, shared *scene, deadline time.Duration) trial {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	began, first, ended, err := connect(ctx, shared)
	arrived := time.Now()
	// The request is over with its body, which is a few words.
	if err == nil {
		_, err = io.Copy(io.Discard, first.response.Body)
		_ = first.response.Body.Close()
	}
	cancel()
	ended()
	if err != nil {
		return trial{Error: err.Error()}
	}
	adopted := protocolOf(first.response)
	return trial{
		Adopted:       &adopted,
		EstablishedMs: since(began, first.established),
		FirstByteMs:   since(began, arrived),
	}
}

func protocolOf(response *http.Response) string {
	switch response.ProtoMajor {
	case 3:
		return "h3"
	case 2:
		return "h2"
	default:
		return "http/1.1"
	}
}

func since(began, then time.Time) *float64 {
	milliseconds := float64(then.Sub(began)) / float64(time.Millisecond)
	return &milliseconds
}
