// How busy the machine is when an experiment begins, so that nobody takes figures of a busy one for those of an idle one.
import { availableParallelism, loadavg } from 'node:os';

/** By core; above it, others take processor time that the experiment needs. */
const QUIET_LOAD = 0.5;

/** The load in words, and on a busy machine a line more that warns of `harm`: what comes of measuring now. */
export function loadLines(harm: string): string[] {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  const line = `load ${load.toFixed(2)} on ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  if (load / cores <= QUIET_LOAD) return [line];
  return [line, `Warning: this machine is busy${harm}. End what else is running.`];
}
