// Limits of the races requested over one port: the helper enforces them, and the extension queues rather than be
// rejected. Apart from the wire's schemas, so that pages that only need a number do not load them.

/** Races at once. */
export const RACES_AT_ONCE = 4;
/** Races begun within a minute. */
export const RACES_PER_MINUTE = 30;
/** A longer start delay would make a navigation's race outlast its page. */
export const MAX_START_DELAY_MS = 1000;
