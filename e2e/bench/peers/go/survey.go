// Races HTTP/3 against HTTP/2 for many origins with quic-go and net/http: the same work as
// `photofinish race --memory none`, done by another stack, for benchmarks that compare the two.

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// The same limit as the helper's own.
const maxBodyBytes = 64 * 1024

type origin struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Address string `json:"address"`
}

type order struct {
	Origins      []origin `json:"origins"`
	CAFile       string   `json:"ca"`
	Concurrency  int      `json:"concurrency"`
	StartDelayMs float64  `json:"startDelayMs"`
	TimeoutMs    float64  `json:"timeoutMs"`
}

type outcome struct {
	Origins  int            `json:"origins"`
	Adopted  map[string]int `json:"adopted"`
	Failures []string       `json:"failures"`
	// From reading the order to the last race's end.
	WallMs float64 `json:"wallMs"`
	// User and system time of the whole process.
	CPUMs float64 `json:"cpuMs"`
}

// survey races every origin of the order on standard input, as many at a time as it says.
func survey() error {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	roots, err := rootsWith(o.CAFile)
	if err != nil {
		return err
	}
	began := time.Now()
	result := outcome{Origins: len(o.Origins), Adopted: map[string]int{}, Failures: []string{}}
	var lock sync.Mutex
	var workers sync.WaitGroup
	queue := make(chan origin)
	for range o.Concurrency {
		workers.Go(func() {
			for each := range queue {
				protocol, err := raceOnce(each, &o, roots)
				lock.Lock()
				if err == nil {
					result.Adopted[protocol]++
				} else {
					result.Failures = append(result.Failures, fmt.Sprintf("%s: %v", each.Host, err))
				}
				lock.Unlock()
			}
		})
	}
	for _, each := range o.Origins {
		queue <- each
	}
	close(queue)
	workers.Wait()
	result.WallMs = float64(time.Since(began)) / float64(time.Millisecond)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	result.CPUMs = float64(usage.Utime.Nano()+usage.Stime.Nano()) / float64(time.Millisecond)
	return json.NewEncoder(os.Stdout).Encode(result)
}

// connection is an established transport: good for one request, then closed.
type connection struct {
	protocol string
	ask      func(context.Context, *http.Request) (*http.Response, error)
	close    func()
}

// raceOnce starts HTTP/3, and HTTP/2 after the delay, or at once when HTTP/3 fails; the first one established is adopted,
// the other is ended, and one request is sent.
func raceOnce(o origin, order *order, roots *x509.CertPool) (string, error) {
	timeout := time.Duration(order.TimeoutMs * float64(time.Millisecond))
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	type result struct {
		conn *connection
		err  error
	}
	results := make(chan result, 2)
	start := func(dial func(context.Context, origin, *x509.CertPool) (*connection, error)) {
		go func() {
			conn, err := dial(ctx, o, roots)
			results <- result{conn, err}
		}()
	}
	start(dialH3)
	delay := time.NewTimer(time.Duration(order.StartDelayMs * float64(time.Millisecond)))
	defer delay.Stop()
	waiting, running := true, 1
	startH2 := func() {
		if waiting {
			waiting = false
			running++
			start(dialH2)
		}
	}
	var failures error
	for running > 0 {
		select {
		case <-delay.C:
			startH2()
		case r := <-results:
			running--
			if r.err != nil {
				failures = errors.Join(failures, r.err)
				startH2()
				continue
			}
			// Whatever the loser still becomes is closed as soon as it is there.
			cancelled := running
			defer func() {
				cancel()
				for range cancelled {
					if late := <-results; late.conn != nil {
						late.conn.close()
					}
				}
			}()
			defer r.conn.close()
			return r.conn.protocol, ask(ctx, o, r.conn)
		}
	}
	return "", failures
}

func ask(ctx context.Context, o origin, conn *connection) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://%s:%d/", o.Host, o.Port), nil)
	if err != nil {
		return err
	}
	response, err := conn.ask(ctx, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxBodyBytes))
	return err
}

func dialH3(ctx context.Context, o origin, roots *x509.CertPool) (*connection, error) {
	config := &tls.Config{RootCAs: roots, ServerName: o.Host, NextProtos: []string{http3.NextProtoH3}}
	conn, err := quic.DialAddr(ctx, net.JoinHostPort(o.Address, fmt.Sprint(o.Port)), config, &quic.Config{})
	if err != nil {
		return nil, err
	}
	transport := &http3.Transport{}
	return &connection{
		protocol: "h3",
		ask: func(_ context.Context, request *http.Request) (*http.Response, error) {
			return transport.NewClientConn(conn).RoundTrip(request)
		},
		close: func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") },
	}, nil
}

func dialH2(ctx context.Context, o origin, roots *x509.CertPool) (*connection, error) {
	config := &tls.Config{RootCAs: roots, ServerName: o.Host, NextProtos: []string{"h2", "http/1.1"}}
	dialer := tls.Dialer{Config: config}
	raw, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(o.Address, fmt.Sprint(o.Port)))
	if err != nil {
		return nil, err
	}
	conn := raw.(*tls.Conn)
	protocol := "http/1.1"
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		protocol = "h2"
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	return &connection{
		protocol: protocol,
		ask: func(_ context.Context, request *http.Request) (*http.Response, error) {
			return transport.RoundTrip(request)
		},
		close: func() {
			transport.CloseIdleConnections()
			_ = conn.Close()
		},
	}, nil
}
