// A reporter for `node --test`: one JSON line per finished test, so that the runner can count, name and display it.
// Node's built-in reporters are made for people and omit the reasons of skipped tests.
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** The failure of a file without tests. */
export const NO_TEST = 'the file declares no test';

export interface NodeTestLine {
  readonly kind: 'passed' | 'failed' | 'skipped';
  /** `file > suite > test`. */
  readonly name: string;
  /** The error of a failure, or the reason of a skip. */
  readonly detail: string;
}

/** Node wraps the error that was thrown. */
function explain(error: Error): string {
  return inspect(error.cause ?? error, { colors: false });
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  // Names of open tests by nesting level: a child is reported before its parent has ended.
  const open: string[] = [];
  const printed = new Map<string, string>();
  const line = (parts: NodeTestLine) => `${JSON.stringify(parts)}\n`;

  for await (const { type, data } of events) {
    if (type === 'test:start') open[data.nesting] = data.name;
    if (type === 'test:stderr' || type === 'test:stdout')
      printed.set(data.file, (printed.get(data.file) ?? '') + data.message);
    if (type !== 'test:pass' && type !== 'test:fail') continue;

    // A file is reported as a test only if it declares none, or exits before it could.
    const file = data.file === undefined ? '' : relative(process.cwd(), data.file);
    const isFile = data.nesting === 0 && data.name === file;
    const path = isFile ? [file] : [file, ...open.slice(0, data.nesting), data.name];
    const name = path.join(' > ');
    // Neither is present in the event of a test that has run.
    const reason = data.skip ?? data.todo;

    if (type === 'test:fail') {
      const error = data.details.error as Error & { failureType?: string };
      // The subtests have been reported already.
      if (error.failureType === 'subtestsFailed') continue;
      const detail = [explain(error), isFile ? (printed.get(file) ?? '') : ''].join('\n').trimEnd();
      yield line({ kind: 'failed', name, detail });
    } else if (reason !== undefined) {
      yield line({ kind: 'skipped', name, detail: reason === true ? 'no reason given' : String(reason) });
    } else if (data.details.type !== 'suite') {
      yield isFile
        ? line({ kind: 'failed', name, detail: NO_TEST })
        : line({ kind: 'passed', name, detail: '' });
    }
  }
}
