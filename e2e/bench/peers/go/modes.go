// The ways to the first response. Two follow the code that was published with "Happy Eyeballs for HTTP/3" (MDPI, 2022),
// where it differs from the paper too; the third is quic-go alone.

package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// The connection start delay.
const startDelay = 10 * time.Millisecond

// race asks over QUIC, and over TCP after the start delay, whatever has become of QUIC; the first response is taken.
//
// As that code has it: a late response is thrown away, and nothing is remembered. TCP's request is called off only if
// QUIC's handshake is found complete at the moment when TLS is done; QUIC's never is. A side that fails says nothing,
// so with both paths dead the original waits for ever. Here the caller's deadline ends it.
func race(ctx context.Context, shared *scene) (time.Time, arrival, func(), error) {
	quicSide, tcpSide := newQUICClient(ctx, shared), newTCPClient(ctx, shared)
	tcpCtx, cancelTCP := context.WithCancel(ctx)
	tcpSide.onSecure = func() {
		if quicSide.secure.isTold() {
			cancelTCP()
		}
	}
	responses := make(chan arrival, 2)
	failures := make(chan error, 2)
	var running sync.WaitGroup
	tell := func(got arrival, err error) {
		if err == nil {
			responses <- got
		} else {
			failures <- err
		}
	}

	began := time.Now()
	running.Go(func() { tell(quicSide.get(ctx, shared.url)) })
	running.Go(func() {
		time.Sleep(startDelay)
		tell(tcpSide.get(tcpCtx, shared.url))
	})
	ended := func() {
		cancelTCP()
		running.Wait()
		close(responses)
		for late := range responses {
			_ = late.response.Body.Close()
		}
		quicSide.close()
		tcpSide.close()
	}
	select {
	case first := <-responses:
		return began, first, ended, nil
	case <-ctx.Done():
		return began, arrival{}, ended, errors.Join(ctx.Err(), told(failures))
	}
}

// told gives the failures that are known by now.
func told(failures <-chan error) error {
	var all error
	for range len(failures) {
		all = errors.Join(all, <-failures)
	}
	return all
}

// altSvc asks over TCP: to a new client HTTP/3 is not advertised yet, and the paper measures its first connection.
func altSvc(ctx context.Context, shared *scene) (time.Time, arrival, func(), error) {
	tcpSide := newTCPClient(ctx, shared)
	began := time.Now()
	got, err := tcpSide.get(ctx, shared.url)
	return began, got, tcpSide.close, err
}

// h3Alone asks over QUIC and nothing else.
func h3Alone(ctx context.Context, shared *scene) (time.Time, arrival, func(), error) {
	quicSide := newQUICClient(ctx, shared)
	began := time.Now()
	got, err := quicSide.get(ctx, shared.url)
	return began, got, quicSide.close, err
}
