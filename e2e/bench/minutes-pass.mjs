// Loaded into a helper before its own code: lets a minute pass by its monotonic clock whenever it is told to by SIGUSR2.
// A helper races thirty times a minute at most; ten thousand races would otherwise take five hours and a half.
const MINUTE_MS = 60_000;
const now = performance.now.bind(performance);
let passedMs = 0;
Object.defineProperty(performance, 'now', { value: () => now() + passedMs });
process.on('SIGUSR2', () => {
  passedMs += MINUTE_MS;
});
