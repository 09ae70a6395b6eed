// Steering on the real WebExtensions APIs of Firefox; Chromium supports none of it.
import { openSteering, type SteerDeps, type Steering } from './steering.ts';

export const STEER_ALARM = 'steering';
/** Rules outlive the background, so an alarm removes those that have expired. */
const LOOK_MINUTES = 5;

async function keepAlarm(steering: boolean): Promise<void> {
  if (!steering) await chrome.alarms.clear(STEER_ALARM);
  else if ((await chrome.alarms.get(STEER_ALARM)) === undefined)
    await chrome.alarms.create(STEER_ALARM, { periodInMinutes: LOOK_MINUTES });
}

/** Rejects when the store or rules fail. */
export async function openBrowserSteering({
  onChange,
  ...deps
}: Pick<SteerDeps, 'advertised' | 'nowMs' | 'onChange' | 'store'>): Promise<Steering> {
  return openSteering({
    ...deps,
    rules: {
      getDynamicRules: () => chrome.declarativeNetRequest.getDynamicRules(),
      updateDynamicRules: (change) =>
        chrome.declarativeNetRequest.updateDynamicRules(
          change as unknown as chrome.declarativeNetRequest.UpdateRuleOptions,
        ),
    },
    onChange(steering) {
      keepAlarm(steering).catch(console.error);
      onChange(steering);
    },
  });
}
