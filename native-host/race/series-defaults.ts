// What a race is given when nobody says otherwise, apart from the engine so that help need not load it.

/** The budget of a race that a message asks for; the command line is bound by its flag instead. */
export const DEFAULT_TIMEOUT_MS = 3000;
/** How long a comparison that a message asks for goes on while it is undecided; its pairs are at most 6 s long. */
export const MOST_SERIES_MS = 45_000;
