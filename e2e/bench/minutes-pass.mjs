// Loaded into a helper before its own code: lets a minute pass by its monotonic clock whenever it is told to by SIGUSR2.
// A helper races thirty times a minute at most; ten thousand races would otherwise take five hours and a half.
const SECONDS_PER_MINUTE = 60;
const { hrtime } = process;
let passedSeconds = 0;
process.hrtime = Object.assign((...since) => {
  const [seconds, nanoseconds] = hrtime(...since);
  return [seconds + passedSeconds, nanoseconds];
}, hrtime);
process.on('SIGUSR2', () => {
  passedSeconds += SECONDS_PER_MINUTE;
});
