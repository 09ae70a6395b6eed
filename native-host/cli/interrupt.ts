// What the interrupt key does to a command: it ends in order, with what it has.

/** A controller that the first interrupt aborts; `forget` gives the key back. A second one ends the process the hard way. */
export function stoppedByInterrupt(): { readonly stop: AbortController; readonly forget: () => void } {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  return { stop, forget: () => void process.removeListener('SIGINT', interrupt) };
}
