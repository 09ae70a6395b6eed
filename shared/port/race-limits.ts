// How many races the helper takes over one port: it holds everybody to this, and the extension waits rather than be refused.

/** Races at once. */
export const RACES_AT_ONCE = 4;
/** Races begun within a minute. */
export const RACES_PER_MINUTE = 30;
