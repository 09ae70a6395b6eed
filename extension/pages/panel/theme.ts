// The developer tools have a theme of their own, which need not be the system's: the panel wears theirs.

/** What browsers call it: `dark`, and several names for light. */
type ThemeName = string;

interface ThemedPanels {
  readonly themeName: ThemeName;
  /** Chromium. */
  setThemeChangeHandler?(changed: (name: ThemeName) => void): void;
  /** Firefox. */
  readonly onThemeChanged?: { addListener(changed: (name: ThemeName) => void): void };
}

/** Rules of the page's styles that ask for the system's dark theme. */
function darkRules(): CSSMediaRule[] {
  return [...document.styleSheets].flatMap((sheet) =>
    [...sheet.cssRules].filter(
      (rule): rule is CSSMediaRule =>
        rule instanceof CSSMediaRule && rule.media.mediaText.includes('prefers-color-scheme: dark'),
    ),
  );
}

/** Follows the tools' theme from now on. */
export function followToolsTheme(): void {
  const panels = chrome.devtools.panels as unknown as ThemedPanels;
  const rules = darkRules();
  const wear = (name: ThemeName): void => {
    const dark = name === 'dark';
    for (const rule of rules) rule.media.mediaText = dark ? 'screen' : 'not all';
    document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
  };
  wear(panels.themeName);
  panels.setThemeChangeHandler?.(wear);
  panels.onThemeChanged?.addListener(wear);
}
