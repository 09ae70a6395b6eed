// A minimal native messaging host in Node that opens a database, and for each message reads a row and replies with as
// much as a forecast: what a process, a pipe, JSON and the database cost without anything of ours. Arguments: the
// database's file.
const { DatabaseSync } = require('node:sqlite');

const LENGTH_BYTES = 4;

const db = new DatabaseSync(process.argv[2]);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
db.exec('CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY)');
const row = db.prepare('SELECT id FROM bare WHERE id = ?');

function reply({ id, type, origins = [] }) {
  row.get(id);
  const reachable = { protocol: 'h3', basis: 'advertised', ageMs: 1000, fresh: true };
  const expected = { protocol: 'h3', basis: 'observed' };
  const forecasts = origins.map((origin) => ({ origin, reachable, expected, hit: true }));
  const json = Buffer.from(JSON.stringify({ id, type, forecasts, network: 'net-0123456789abcdef' }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  process.stdout.write(Buffer.concat([length, json]));
}

let rest = Buffer.alloc(0);
process.stdin.on('data', (bytes) => {
  rest = Buffer.concat([rest, bytes]);
  while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt32LE(0)) {
    const end = LENGTH_BYTES + rest.readUInt32LE(0);
    reply(JSON.parse(rest.subarray(LENGTH_BYTES, end)));
    rest = rest.subarray(end);
  }
});
process.stdin.on('end', () => process.exit(0));
