// The only writer to stdout and stderr: results, errors in their fixed form, and progress for people; also handles
// interrupts.
import { fdatasync, fstatSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Paint, paintFor, printable } from './text.ts';
import { type ComplaintCode, EXIT_FAILED } from './usage.ts';

export interface Terminal {
  /** Colours for stdout. */
  readonly paint: Paint;
  /** Writes a result and a line break to stdout; then calls `written`, with false if that failed. */
  result(text: string, written?: (ok: boolean) => void): void;
  /** Writes `photofinish: CODE: message` to stderr. */
  error(code: ComplaintCode, message: string): void;
  /**
   * Asks for confirmation: anything but yes means no, and so does a question that nobody would see. If stdin is no
   * terminal, as in scripts, the answer is yes.
   */
  confirm(question: string): Promise<boolean>;
  /** Shows a line that the next one replaces; nothing unless stderr is a terminal. */
  progress(text: string): void;
}

const ERASE_LINE = '\r\u001b[2K';

function isFile(fd: number): boolean {
  return fstatSync(fd).isFile();
}

/** The process's own streams. Writing to a reader that has gone (EPIPE) ends quietly. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  let shown = false;
  let closed = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    closed = true;
    if (error.code === 'EPIPE') return;
    stderr.write(`photofinish: cannot-write: the result cannot be written: ${error.message}\n`);
    process.exitCode = EXIT_FAILED;
  });
  stderr.on('error', () => {
    // Nobody reads errors any more, and there is nowhere else to report that.
  });
  const clear = (): void => {
    if (shown) stderr.write(ERASE_LINE);
    shown = false;
  };
  const toFile = isFile(stdout.fd);
  // On a full disk, at a quota and at the largest size allowed, write(2) first returns a short count, which Node's own
  // stream for files ignores.
  const writeFile = (text: string): boolean => {
    try {
      writeFileSync(stdout.fd, text);
      return true;
    } catch (error) {
      stdout.emit('error', error as Error);
      return false;
    }
  };
  return {
    paint: paintFor(stdout),
    result(text, written) {
      clear();
      if (closed) written?.(false);
      else if (toFile) {
        const ok = writeFile(`${text}\n`);
        written?.(ok);
      } else stdout.write(`${text}\n`, (error) => written?.(error === null || error === undefined));
    },
    error(code, message) {
      clear();
      stderr.write(`photofinish: ${code}: ${printable(message)}\n`);
    },
    async confirm(question) {
      clear();
      if (!process.stdin.isTTY) return true;
      // Nobody would see the question.
      if (!stderr.isTTY) return false;
      const { createInterface } = await import('node:readline/promises');
      const lines = createInterface({ input: process.stdin, output: stderr });
      // The end of input is not an answer, and neither is an interrupt.
      const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
      const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
      lines.close();
      return /^y(es)?$/i.test(answer.trim());
    },
    progress(text) {
      if (!stderr.isTTY) return;
      stderr.write(ERASE_LINE + text);
      shown = true;
    },
  };
}

/** Results that were written to a file are on its disk afterwards. Rejects if they cannot be. */
export async function resultsOnDisk(): Promise<void> {
  if (isFile(process.stdout.fd)) await promisify(fdatasync)(process.stdout.fd);
}

/** The interrupt key, a service manager, and a terminal that closes. */
const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * For a command that ends in an orderly way with what it has: a controller aborted by the first interrupt. A second one,
 * whichever it is, ends the process at once. `forget` restores the default.
 */
export function stoppedByInterrupt() {
  const stop = new AbortController();
  const forget = (): void => {
    for (const name of INTERRUPTS) process.removeListener(name, interrupt);
  };
  const interrupt = (): void => {
    forget();
    stop.abort();
  };
  for (const name of INTERRUPTS) process.on(name, interrupt);
  return { stop, forget };
}
