// The browsers that the helper can be installed for, by the names that options take and that people know.

/** The names people know, by those that options take. */
export const TITLES = {
  chromium: 'Chromium',
  chrome: 'Google Chrome',
  edge: 'Microsoft Edge',
  brave: 'Brave',
  firefox: 'Firefox',
} as const;

export type BrowserName = keyof typeof TITLES;

export const BROWSER_NAMES = Object.keys(TITLES) as readonly BrowserName[];
