// cargo's output format is not stable, so the parser is tested against real samples.
import assert from 'node:assert/strict';
import test from 'node:test';
import { readCargoOutput } from './cargo.ts';

const SAMPLE = `
     Running unittests src/lib.rs (target/release/deps/core-1)

running 4 tests
test guard::refuses_loopback ... ok
test guard::panics - should panic ... ok
test wire::reads ... FAILED
test wire::slow ... ignored, needs an hour

failures:

---- wire::reads stdout ----
thread 'wire::reads' panicked at src/wire.rs:7:5:
left: 1

failures:
    wire::reads

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/attempt.rs (target/release/deps/attempt-1)

running 1 test
noise without a newline test connects ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests photofinish_core

running 1 test
test src/lib.rs - attempt (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`;

test('every test binary counts, and a failure carries its own output', () => {
  const counts = readCargoOutput(SAMPLE);
  assert.equal(counts.passed, 4);
  assert.deepEqual(
    counts.failures.map(({ name }) => name),
    ['unittests src/lib.rs: wire::reads'],
  );
  assert.match(counts.failures[0]?.detail ?? '', /src\/wire\.rs:7:5[\s\S]*left: 1/);
  assert.doesNotMatch(counts.failures[0]?.detail ?? '', /test result/);
  assert.deepEqual(counts.skipped, [{ name: 'unittests src/lib.rs: wire::slow', reason: 'needs an hour' }]);
});

test('a failure whose line cannot be parsed still counts', () => {
  const counts = readCargoOutput('test result: FAILED. 0 passed; 2 failed; 0 ignored;');
  assert.equal(counts.failures.length, 1);
  assert.match(counts.failures[0]?.name ?? '', /2 without a readable name/);
});

test('a test binary that crashes is a failure in addition to the tests it had finished', () => {
  const died = `
     Running tests/attempt.rs (target/release/deps/attempt-1)

running 2 tests
test connects ... ok
error: test failed, to rerun pass \`--test attempt\`
  process didn't exit successfully (signal: 6, SIGABRT)
`;
  const counts = readCargoOutput(died + SAMPLE);
  assert.equal(counts.passed, 5);
  assert.deepEqual(
    counts.failures.map(({ name }) => name),
    ['tests/attempt.rs: ended before its last test', 'unittests src/lib.rs: wire::reads'],
  );
  assert.match(counts.failures[0]?.detail ?? '', /SIGABRT/);
});
