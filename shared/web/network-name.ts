// The user's name for a network, so that nobody has to read `net-1d44ea1a8671e8f3`. The helper stores it beside the
// host cache; it leaves the machine only in a report that the user exports with it.
import * as v from 'valibot';

/** The network's label in records of a machine without an outbound route. */
export const OFFLINE_NETWORK = 'offline';

/** The label of a network that cannot be distinguished from others; the helper records nothing under it. */
export const UNIDENTIFIED = 'unidentified';
/** The network's label if no helper reports it. */
export const NETWORK_UNKNOWN = 'unknown';

/** Labels of networks that could not be recognised again. */
const NOWHERE: readonly string[] = ['', NETWORK_UNKNOWN, OFFLINE_NETWORK, UNIDENTIFIED];

/** Whether equal labels certainly name one network. */
export function isRecognisable(network: string): boolean {
  return !NOWHERE.includes(network);
}

/** Room for "Hotel in Hamburg, second floor", but still fits into a table column. */
export const MAX_NETWORK_NAME_CHARS = 40;

/**
 * Control characters, line separators and bidirectional controls would let a name rewrite the text around it. The sets
 * of characters take a millisecond to build, which a helper's first forecast does without.
 */
function isPrintable(name: string): boolean {
  const unprintable = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
  return !unprintable.test(name) && /[\p{L}\p{N}\p{P}\p{S}]/u.test(name);
}

/** Trimmed and in Unicode's composed form (NFC), so that equal names have equal bytes. */
export const networkNameSchema = v.pipe(
  v.string(),
  v.normalize(),
  v.trim(),
  v.check(
    (name) => name.length > 0 && [...name].length <= MAX_NETWORK_NAME_CHARS,
    `a network's name has 1 to ${MAX_NETWORK_NAME_CHARS} characters`,
  ),
  v.check(isPrintable, "a network's name has only printable characters"),
);

/** The label by which the helper knows a network. */
export const networkLabelSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(64));

/** A network as known by the helper; `name` is null until the user sets one. */
export const namedNetworkSchema = v.object({
  network: networkLabelSchema,
  name: v.nullable(v.pipe(v.string(), v.maxLength(4 * MAX_NETWORK_NAME_CHARS))),
  /** Whether the machine is on it now. */
  current: v.boolean(),
});
export type NamedNetwork = Readonly<v.InferOutput<typeof namedNetworkSchema>>;
