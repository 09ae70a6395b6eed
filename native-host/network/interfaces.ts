// The addresses of this machine's own interfaces as text: on systems whose tables cannot be read without a command, a
// change of network shows here first.

/** Changes whenever an interface or one of its IPv4 addresses is added or removed. */
export function interfacesMark(): string {
  const interfaces = Object.entries(process.getBuiltinModule('node:os').networkInterfaces());
  return JSON.stringify(
    interfaces.map(([device, addresses = []]) => [
      device,
      // IPv6 privacy addresses (RFC 8981) change on the same network.
      addresses.flatMap(({ family, cidr }) => (family === 'IPv4' ? [cidr] : [])),
    ]),
  );
}
