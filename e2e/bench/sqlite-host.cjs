// A minimal native messaging host in Node that opens a database and reads a row for each message before returning it
// unchanged: what a process, a pipe and the database cost without anything of ours. Arguments: the database's file.
const { DatabaseSync } = require('node:sqlite');

const db = new DatabaseSync(process.argv[2]);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
db.exec('CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY)');
const row = db.prepare('SELECT id FROM bare WHERE id = ?');
process.stdin.on('data', (bytes) => {
  row.get(1);
  process.stdout.write(bytes);
});
process.stdin.on('end', () => process.exit(0));
