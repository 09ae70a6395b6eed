// A helper of another version: it answers every hello with an unsupported wire protocol.
process.stdin.once('data', (bytes) => {
  const { id } = JSON.parse(bytes.subarray(4).toString());
  const answer = { id, type: 'hello', protocol: 0, program: 'photofinish-helper/0.1.0' };
  const reply = Buffer.from(JSON.stringify(answer));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(reply.length);
  process.stdout.write(Buffer.concat([length, reply]));
});
process.stdin.on('end', () => process.exit(0));
