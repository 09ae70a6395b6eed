// When the ledger is pruned: by an alarm, because the background seldom lives for an hour.
const ALARM = 'prune';
const EVERY_MINUTES = 60;

async function schedule(): Promise<void> {
  // Creating it anew at each start would push it ahead of itself for ever.
  if ((await chrome.alarms.get(ALARM)) === undefined)
    await chrome.alarms.create(ALARM, { periodInMinutes: EVERY_MINUTES });
}

/** Calls `prune` each hour; must be called synchronously when the background starts, or the alarm is lost. */
export function pruneHourly(prune: () => Promise<unknown>): void {
  chrome.alarms.onAlarm.addListener(({ name }) => {
    if (name === ALARM) prune().catch(console.error);
  });
  schedule().catch(console.error);
}
