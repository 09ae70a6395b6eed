// Section 5.3's interleaving: the example of the rule, and properties that hold for every group.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { interleave } from './interleave.ts';

interface Item {
  readonly transport: 'h3' | 'h2';
  readonly family: 'ipv6' | 'ipv4';
  readonly name: string;
}

function item(text: string): Item {
  const [transport = '', family = ''] = text.split('/');
  return {
    transport: transport as Item['transport'],
    family: family.startsWith('v6') ? 'ipv6' : 'ipv4',
    name: text,
  };
}

function names(...texts: string[]): string[] {
  return interleave(texts.map(item)).map(({ name }) => name);
}

test('5.3: "the client SHOULD modify the ordered list to interleave address families"', () => {
  assert.deepEqual(names('h3/v6a', 'h2/v6a', 'h3/v6b', 'h2/v6b', 'h3/v4a', 'h2/v4a', 'h3/v4b', 'h2/v4b'), [
    'h3/v6a',
    'h3/v4a',
    'h2/v6a',
    'h2/v4a',
    'h3/v6b',
    'h3/v4b',
    'h2/v6b',
    'h2/v4b',
  ]);
});

test('5.3: "Whichever address family is first in the list should be followed by an endpoint of the other"', () => {
  assert.deepEqual(names('h2/v4a', 'h2/v4b', 'h2/v6a'), ['h2/v4a', 'h2/v6a', 'h2/v4b']);
  assert.deepEqual(
    names('h3/v6a', 'h2/v6a', 'h2/v4a'),
    ['h3/v6a', 'h2/v4a', 'h2/v6a'],
    'another protocol, too',
  );
});

test('families alternate while there are two, nothing is lost, and equal entries keep their order', () => {
  const items = fc.array(
    fc.record({ transport: fc.constantFrom('h3', 'h2'), family: fc.constantFrom('ipv6', 'ipv4') }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(items, (list) => {
      const numbered = list.map((one, i) => ({ ...one, i }));
      const out = interleave(numbered);
      assert.deepEqual(
        out.map(({ i }) => i).toSorted((a, b) => a - b),
        numbered.map(({ i }) => i),
      );
      assert.equal(out[0]?.family, list[0]?.family);
      const fewer = Math.min(
        ...(['ipv6', 'ipv4'] as const).map((f) => list.filter((o) => o.family === f).length),
      );
      for (let k = 1; k < 2 * fewer; k += 1) assert.notEqual(out[k]?.family, out[k - 1]?.family);
      for (const transport of ['h3', 'h2'])
        for (const family of ['ipv6', 'ipv4']) {
          const order = out.filter((o) => o.transport === transport && o.family === family).map(({ i }) => i);
          assert.deepEqual(
            order,
            order.toSorted((a, b) => a - b),
          );
        }
    }),
  );
});
