// Hostile text in Markdown, checked with a parser of GitHub's dialect: for any input, only text is output.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderedMarkdown } from '../testing/reports.ts';
import { markdownCode, markdownTable, markdownText } from './markdown.ts';

function textOf(html: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => entities[name] ?? '');
}

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '[click](javascript:alert(1))',
  '![x](https://evil.test/x.png)',
  'https://evil.test and www.evil.test and a@evil.test',
  '`code` **bold** _em_ ~~gone~~ # head',
  'a | b \\| c',
  '&lt;script&gt; &#64;everyone',
  'line\n\n# heading\n- item\n> quote',
  '[^1]: note',
  '_www.evil.test',
  '$x$ \\ trailing \\',
];
const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(
      fc.constantFrom(
        '`',
        '|',
        '\\',
        '<',
        '>',
        '[',
        ']',
        '(',
        ')',
        '*',
        '_',
        '@',
        '#',
        ':',
        '//',
        'www.',
        'a.b',
        '\n',
        ' ',
        '~',
        '!',
        '&',
        ';',
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
);

test('nothing in a paragraph is markup, and all words are there', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const html = renderedMarkdown(`x ${markdownText(text)} y`);
      assert.match(html, /^<p>x [^<]* y<\/p>$|^<p>x {2}y<\/p>$|^<p>x y<\/p>$/);
      const bare = (words: string) =>
        words.replace(/[\s\u2060]|[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '');
      assert.equal(bare(textOf(html)), bare(`x${text}y`));
    }),
  );
});

test('a cell stays one cell, as text or as code', () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      const table = markdownTable(['A', 'B', 'C'], [[markdownText(a), markdownCode(b), 'end']]);
      const html = renderedMarkdown(table.join('\n'));
      assert.equal(html.match(/<td>/g)?.length, 3, html);
      assert.match(html, /<td>end<\/td>/);
      assert.doesNotMatch(html, /<(?!\/?(table|thead|tbody|tr|th|td|code)>)/);
    }),
  );
});

test('GitHub finds no mentions and no references', () => {
  assert.equal(markdownText('@all #1 GH-2'), '\\@\u2060all \\#\u20601 GH\u2060-2');
  assert.equal(markdownCode('https://a.test:8443'), '`https://a.test:8443`');
});
