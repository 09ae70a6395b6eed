// How many races the helper accepts over one port: the helper enforces it, and the extension queues rather than be
// rejected.

/** Races at once. */
export const RACES_AT_ONCE = 4;
/** Races begun within a minute. */
export const RACES_PER_MINUTE = 30;
