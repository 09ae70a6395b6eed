// One visible step at a time on standard output: what is being done, for how long already, and how it ended. On a
// terminal the line is rewritten in place; in a log a line is added now and then, so that nobody wonders.

/** In a log, a step that takes longer says so this often. */
const HEARTBEAT_MS = 15_000;
const REDRAW_MS = 100;

export interface Step {
  /** What the step is busy with now; shown beside its elapsed time. */
  detail(text: string): void;
  /** Ends the step with its mark; `note` is put behind the title. */
  end(ok: boolean, note?: string): void;
}

export function say(line = ''): void {
  process.stdout.write(`${line}\n`);
}

export function heading(title: string): void {
  say(`\n${title}`);
}

/** Seconds with one decimal, minutes from 100 s on. */
export function formatElapsed(ms: number): string {
  if (ms < 99_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** Begins a step; exactly one is open at a time. */
export function beginStep(title: string): Step {
  const startedMs = performance.now();
  const elapsed = () => formatElapsed(performance.now() - startedMs);
  const isTerminal = process.stdout.isTTY === true;
  let detail = '';

  const draw = () => {
    const line = `  … ${title}  ${elapsed()}  ${detail}`;
    process.stdout.write(`\r\x1b[2K${line.slice(0, process.stdout.columns - 1)}`);
  };
  const remark = () => say(`  … ${title}  ${elapsed()}  ${detail}`);
  const timer = setInterval(isTerminal ? draw : remark, isTerminal ? REDRAW_MS : HEARTBEAT_MS);
  timer.unref();
  if (isTerminal) draw();

  return {
    detail(text) {
      detail = text;
    },
    end(ok, note = '') {
      clearInterval(timer);
      if (isTerminal) process.stdout.write('\r\x1b[2K');
      say(`  ${ok ? '✓' : '✗'} ${title}  ${elapsed()}${note === '' ? '' : `  ${note}`}`);
    },
  };
}
