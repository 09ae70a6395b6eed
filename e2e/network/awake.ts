// Keeps the processors from going to sleep between packets. Waking up takes a virtual machine around a tenth of a
// millisecond, at every hop, and would be counted as the path's delay.
import { closeSync, openSync, writeSync } from 'node:fs';

/** Linux's PM QoS interface: while it is open, no idle state is entered that takes longer to leave than what was written. */
const LATENCY = '/dev/cpu_dma_latency';
const MICROSECONDS = new Int32Array([0]);

/** Holds the processors awake until the function that it gives is called; null where this process may not. */
export function keepAwake(): (() => void) | null {
  try {
    const file = openSync(LATENCY, 'r+');
    writeSync(file, new Uint8Array(MICROSECONDS.buffer));
    return () => closeSync(file);
  } catch {
    return null;
  }
}
