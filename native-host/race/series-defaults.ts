// What a race is given when nobody says otherwise, apart from the engine so that help need not load it.

/** The budget of a race that a message asks for; the command line is bound by its flag instead. */
export const DEFAULT_TIMEOUT_MS = 3000;
/** Pairs of `compare` behind a click: the fewest that yield a gain. */
export const DEFAULT_PAIRS = 3;
