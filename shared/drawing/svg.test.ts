import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { drawing, element, text } from './svg.ts';

test('no text and no attribute of a drawing breaks out of its context', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (words, value) => {
      const svg = text(1, 2, words, { class: value });
      assert.match(
        svg,
        /^<text x="1" y="2" font-size="11" fill="[^"<>]*" class="[^"<>]*"(\/>|>[^<>]*<\/text>)$/,
      );
      const frame = { id: value, widthPx: 10, heightPx: 10, title: `t${words}`, description: `d${value}` };
      assert.equal(drawing('plot', frame).match(/</g)?.length, 6);
    }),
  );
});

test('coordinates have one decimal, null attributes are omitted', () => {
  assert.equal(
    element('line', { x1: 1.26, x2: 2, class: null, y1: '4%' }),
    '<line x1="1.3" x2="2" y1="4%"/>',
  );
  assert.equal(element('g', {}, '<b/>', '<b/>'), '<g><b/><b/></g>');
});
