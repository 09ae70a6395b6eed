// Values of a key-value bucket: validated where they leave the server, and replaced only by whoever has read the last.
import * as v from 'valibot';
import { JetStreamApiCodes, JetStreamApiError } from './nats.ts';

/** The JSON in a value if it fits the schema, otherwise null. */
export function valueIn<T>(schema: v.GenericSchema<unknown, T>, bytes: Uint8Array): T | null {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), new TextDecoder().decode(bytes));
  return read.success ? read.output : null;
}

/** Whether somebody else wrote first. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
}
