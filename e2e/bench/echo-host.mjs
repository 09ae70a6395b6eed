// A minimal native messaging host in Node: it returns every message unchanged. Our helper's cost beyond this is its
// own; the rest is the cost of a process, a pipe and the browser.
process.stdin.on('data', (bytes) => process.stdout.write(bytes));
process.stdin.on('end', () => process.exit(0));
