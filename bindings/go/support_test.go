package lockc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockc"
)

// patience bounds waits for what is certain to come on a machine however busy.
const patience = 20 * time.Second

// serverURL is the server of the suite: LOCKC_URL, or one that TestMain starts.
var serverURL string

func TestMain(m *testing.M) {
	if work := os.Getenv("LOCKC_TEST_WORK"); work != "" {
		os.Exit(runWorker(work))
	}
	os.Exit(runSuite(m))
}

func runSuite(m *testing.M) int {
	serverURL = os.Getenv("LOCKC_URL")
	if serverURL == "" {
		dir, err := os.MkdirTemp("", "lockc-go-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		server, err := launch(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer server.end()
		serverURL = server.url
	}
	return m.Run()
}

// A server is a redis-server of this suite's own, on a unix socket and no port.
type server struct {
	url     string
	process *exec.Cmd
}

func launch(dir string, options ...string) (*server, error) {
	socket := filepath.Join(dir, "redis.sock")
	arguments := append([]string{
		"--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--logfile", "redis.log",
	}, options...)
	s := &server{url: "unix://" + socket, process: exec.Command("redis-server", arguments...)}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			return s, nil
		}
		if time.Now().After(deadline) {
			s.end()
			return nil, fmt.Errorf("redis-server doesn't start in %s", dir)
		}
	}
}

func startServer(t *testing.T, options ...string) *server {
	t.Helper()
	s, err := launch(t.TempDir(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

func (s *server) end() {
	s.process.Process.Kill()
	s.process.Wait()
}

func (s *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// A connection speaks RESP without lockc, to look at the server and to harm it.
type connection struct {
	net.Conn
	reader *bufio.Reader
}

func dial(server string) (*connection, error) {
	target, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	network, address := "tcp", target.Host
	if target.Scheme == "unix" {
		network, address = "unix", target.Path
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &connection{conn, bufio.NewReader(conn)}, nil
}

// call returns the reply as text: numbers in decimal, nil as "", an error with its "-".
func (c *connection) call(words ...string) (string, error) {
	fmt.Fprintf(c, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(c, "$%d\r\n%s\r\n", len(word), word)
	}
	line, err := c.reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch line[0] {
	case '$':
		size, _ := strconv.Atoi(line[1:])
		if size < 0 {
			return "", nil
		}
		body := make([]byte, size+2)
		_, err := io.ReadFull(c.reader, body)
		return string(body[:size]), err
	case '-':
		return line, nil
	}
	return line[1:], nil
}

// redis sends one command to the server at url.
func redis(t *testing.T, server string, words ...string) string {
	t.Helper()
	conn, err := dial(server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reply, err := conn.call(words...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// open returns a client of the suite's server that is closed with the test.
func open(t *testing.T, options *lockc.Options) *lockc.Client {
	t.Helper()
	return openAt(t, serverURL, options)
}

func openAt(t *testing.T, server string, options *lockc.Options) *lockc.Client {
	t.Helper()
	client, err := lockc.Open(server, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// keyOf returns a key that no other test and no other run uses.
func keyOf(t *testing.T) string {
	return fmt.Sprintf("go:%s:%d:%d", t.Name(), os.Getpid(), time.Now().UnixNano())
}

func acquire(t *testing.T, client *lockc.Client, key string, options *lockc.AcquireOptions) *lockc.Lock {
	t.Helper()
	return acquireWithin(t, patience, client, key, options)
}

func acquireWithin(t *testing.T, limit time.Duration, client *lockc.Client, key string,
	options *lockc.AcquireOptions) *lockc.Lock {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	lock, err := client.Acquire(ctx, key, options)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// A grant is what an acquire in a goroutine of its own came to.
type grant struct {
	lock *lockc.Lock
	err  error
}

func acquiring(ctx context.Context, client *lockc.Client, key string, options *lockc.AcquireOptions) <-chan grant {
	result := make(chan grant, 1)
	go func() {
		lock, err := client.Acquire(ctx, key, options)
		result <- grant{lock, err}
	}()
	return result
}

func outcome(t *testing.T, result <-chan grant) grant {
	t.Helper()
	select {
	case g := <-result:
		return g
	case <-time.After(patience):
		t.Fatalf("the acquire doesn't end within %s", patience)
		return grant{}
	}
}

// until fails the test where what is said to come doesn't.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// untilQueued waits until count waiters stand in the queue of key at the server.
func untilQueued(t *testing.T, server, key string, count int) {
	t.Helper()
	queue := fmt.Sprintf("lockc:{%s}:queue:%s", key, key)
	until(t, "queue of "+key, func() bool {
		return redis(t, server, "ZCARD", queue) == strconv.Itoa(count)
	})
}

func untilClosed(t *testing.T, what string, signal <-chan struct{}) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(patience):
		t.Fatalf("%s: not within %s", what, patience)
	}
}

func isFree(t *testing.T, key string) bool {
	t.Helper()
	return redis(t, serverURL, "EXISTS", key) == "0"
}
