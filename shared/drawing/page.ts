// A self-contained page in one file: no script, no font, no external image.
import { escapeMarkup as esc } from '../language/markup.ts';

export interface StandalonePage {
  /** A language tag. */
  readonly language: string;
  /** Plain text. */
  readonly title: string;
  readonly css: string;
  /** Markup, like the following. */
  readonly header: string;
  readonly main: string;
  readonly footer: string;
}

/** The whole page; its content security policy forbids it to run or load anything, in case escaping is ever missed. */
export function standalonePage({ language, title, css, header, main, footer }: StandalonePage): string {
  return `<!doctype html>
<html lang="${esc(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${esc(title)}</title>
<style>${css}</style>
</head>
<body>
<header>${header}</header>
<main>${main}</main>
<footer>${footer}</footer>
</body>
</html>
`;
}
