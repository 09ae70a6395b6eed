// The browsers that the helper can be installed for, by option value and display name.

/** Display names by option value. */
export const TITLES = {
  chromium: 'Chromium',
  chrome: 'Google Chrome',
  edge: 'Microsoft Edge',
  brave: 'Brave',
  firefox: 'Firefox',
} as const;

export type BrowserName = keyof typeof TITLES;

export const BROWSER_NAMES = Object.keys(TITLES) as readonly BrowserName[];
