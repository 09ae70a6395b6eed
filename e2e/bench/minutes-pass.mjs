// Loaded into a helper before its own code: advances its monotonic clock by a minute on each SIGUSR2. A helper runs at
// most thirty races per minute; ten thousand races would otherwise take five and a half hours.
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
