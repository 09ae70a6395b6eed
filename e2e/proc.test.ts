// Parses samples of real /proc files.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  familyTimeMs,
  memoryOf,
  parseBufferBytes,
  parseMemory,
  parseProcessors,
  parseProcessStat,
  parseSlabs,
  parseSockets,
  parseStart,
  processorTimeOf,
} from './proc.ts';

const STAT =
  '4242 (a) name (x) S 1 4242 4242 0 -1 4194560 2000 0 5 0 123 45 0 0 20 0 11 0 8890 1300000000 9000 18446744073709551615 1 1 0 0 0 0 0 4096 17642 0 0 0 17 1 0 0 0 0 0';

test('processor time follows a command name that may contain anything', () => {
  assert.deepEqual(parseProcessStat(STAT), { userMs: 1230, systemMs: 450 });
  assert.throws(() => parseProcessStat('4242 (x) S'), /not a process's stat/);
});

test('all processors: iowait is idle, steal is busy, guest time is not counted twice', () => {
  const text = 'cpu  100 1 50 1000 20 3 4 5 60 0\ncpu0 50 0 25 500 10 1 2 2 30 0\nintr 1\n';
  assert.deepEqual(parseProcessors(text), { idleMs: 10_200, busyMs: 1630 });
  assert.throws(() => parseProcessors('intr 1'), /no line/);
});

test('memory of a process', () => {
  const rollup =
    '55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss:               60000 kB\nPss:               28000 kB\nPss_Dirty:          9000 kB\n';
  assert.deepEqual(parseMemory(rollup), { rssBytes: 61_440_000, pssBytes: 28_672_000 });
  assert.throws(() => parseMemory('Rss: 1 kB'), /no Pss|no Rss/);
});

const SOCKSTAT = `sockets: used 60
TCP: inuse 3 orphan 1 tw 242 alloc 9 mem 211
UDP: inuse 2 mem 5
UDPLITE: inuse 0
RAW: inuse 0
FRAG: inuse 0 memory 0
`;

test('sockets of both families', () => {
  assert.deepEqual(parseSockets(SOCKSTAT, 'TCP6: inuse 4\nUDP6: inuse 1\nUDPLITE6: inuse 9\n'), {
    tcp: 7,
    timeWait: 242,
    udp: 3,
  });
  assert.equal(parseBufferBytes(SOCKSTAT), 216 * 4096);
});

test('slabs of the network stack, and no others', () => {
  const slabinfo = `slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount>
btrfs_delayed_node    500    500    312   13    1 : tunables    0    0    0 : slabdata      0      0      0
UDPv6                  10    220   1472   22    8 : tunables    0    0    0 : slabdata     10     10      0
tw_sock_TCP             2    160    256   16    1 : tunables    0    0    0 : slabdata     10     10      0
skbuff_head_cache       3    352    256   16    1 : tunables    0    0    0 : slabdata     22     22      0
`;
  assert.equal(parseSlabs(slabinfo), 10 * 1472 + 5 * 256);
});

test('the current process, and one that does not exist', () => {
  const time = processorTimeOf(process.pid);
  assert.ok(time.userMs > 0);
  assert.ok((memoryOf(process.pid)?.pssBytes ?? 0) > 1_000_000);
  assert.throws(() => processorTimeOf(2 ** 30), /has ended/);
});

test('the time of a process includes that of its children, living and waited for', async () => {
  const before = familyTimeMs(process.pid);
  const busy = 'const end = Date.now() + 300; while (Date.now() < end);';
  execFileSync(process.execPath, ['-e', busy]);
  const waitedFor = familyTimeMs(process.pid);
  assert.ok(waitedFor > before, `${before} ms, and then ${waitedFor} ms`);
  const child = spawn(process.execPath, ['-e', `${busy} console.log(); process.stdin.resume();`]);
  await once(child.stdout, 'data');
  assert.ok(familyTimeMs(process.pid) > waitedFor);
  assert.ok(familyTimeMs(child.pid ?? 0) > 0);
  child.kill();
});

test('the start time is read whatever the command is called', () => {
  const rest = 'S 1 7 7 0 -1 4194560 2 0 0 0 0 0 0 0 20 0 1 0 8912 230 1';
  for (const command of ['node', 'a b', 'a) S 1 (', ')'])
    assert.equal(parseStart(`7 (${command}) ${rest}`), 8912, command);
});
