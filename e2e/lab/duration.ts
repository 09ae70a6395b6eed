// How long something will still take, as people say it.

/** `40 s`, `12 min`, `3 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
