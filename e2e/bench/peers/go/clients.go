// One client for each transport, at its library's defaults, good for one trial; and when its handshake was done.

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// moment is a time that another goroutine tells; the first one told counts.
type moment struct {
	once sync.Once
	at   time.Time
	told chan struct{}
}

func newMoment() *moment { return &moment{told: make(chan struct{})} }

func (m *moment) now() {
	m.once.Do(func() {
		m.at = time.Now()
		close(m.told)
	})
}

func (m *moment) isTold() bool {
	select {
	case <-m.told:
		return true
	default:
		return false
	}
}

// quicClient speaks HTTP/3 through quic-go.
type quicClient struct {
	transport *http3.Transport
	secure    *moment
}

// newQUICClient dials the scene's address, whatever the host resolves to; the connection ends with ctx.
func newQUICClient(ctx context.Context, shared *scene) *quicClient {
	client := &quicClient{secure: newMoment()}
	client.transport = &http3.Transport{
		TLSClientConfig: shared.tls.Clone(),
		Dial: func(_ context.Context, _ string, config *tls.Config, options *quic.Config) (*quic.Conn, error) {
			conn, err := quic.DialAddrEarly(ctx, shared.address, config, options)
			if err != nil {
				return nil, err
			}
			select {
			case <-conn.HandshakeComplete():
				client.secure.now()
			case <-conn.Context().Done():
			}
			return conn, nil
		},
	}
	return client
}

func (c *quicClient) get(ctx context.Context, url string) (arrival, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return arrival{}, err
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return arrival{}, err
	}
	<-c.secure.told
	return arrival{response, c.secure.at}, nil
}

func (c *quicClient) close() { _ = c.transport.Close() }

// tcpClient speaks HTTP/2 or HTTP/1.1 through net/http.
type tcpClient struct {
	client  http.Client
	secure  *moment
	dialing sync.WaitGroup
	lock    sync.Mutex
	conns   []net.Conn
	// Called when TLS is done.
	onSecure func()
}

// newTCPClient dials the scene's address, whatever the host resolves to; what it has begun to dial ends with ctx.
func newTCPClient(ctx context.Context, shared *scene) *tcpClient {
	client := &tcpClient{secure: newMoment(), onSecure: func() {}}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// One that the environment names would be another path.
	transport.Proxy = nil
	transport.TLSClientConfig = shared.tls.Clone()
	// As net/http's own.
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		client.dialing.Add(1)
		defer client.dialing.Done()
		conn, err := dialer.DialContext(ctx, "tcp", shared.address)
		if err == nil {
			client.lock.Lock()
			client.conns = append(client.conns, conn)
			client.lock.Unlock()
		}
		return conn, err
	}
	client.client.Transport = transport
	return client
}

func (c *tcpClient) get(ctx context.Context, url string) (arrival, error) {
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				c.secure.now()
				c.onSecure()
			}
		},
	})
	request, err := http.NewRequestWithContext(traced, http.MethodGet, url, nil)
	if err != nil {
		return arrival{}, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return arrival{}, err
	}
	return arrival{response, c.secure.at}, nil
}

// close ends its connections, also those that net/http would keep or is still making; its requests are over by then.
func (c *tcpClient) close() {
	c.client.CloseIdleConnections()
	c.dialing.Wait()
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}
