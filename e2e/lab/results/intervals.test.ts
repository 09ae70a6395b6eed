// Intervals against published examples, and where trials agree, are few, or none hit.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@photofinish/shared/seeded-random.fixture';
import fc from 'fast-check';
import {
  type Count,
  meanEstimate,
  percentileEstimate,
  ratioOfMeans,
  ratioOfShares,
  ruleOfThree,
  wilson,
} from './intervals.ts';

const near = (got: number, want: number, within: number) =>
  assert.ok(Math.abs(got - want) <= within, `${got} is not within ${within} of ${want}`);
const counts = fc.tuple(fc.nat(2000), fc.nat(2000)).map(([a, b]): Count => ({ hits: a, of: a + b + 1 }));

describe('the share of trials', () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
  const published = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const;
  for (const [hits, of, low, high] of published)
    test(`${hits} of ${of} is as published`, () => {
      const got = wilson({ hits, of });
      near(got.low, low, 0.00005);
      near(got.high, high, 0.00005);
    });

  test('one trial leaves almost everything open', () => {
    near(wilson({ hits: 1, of: 1 }).low, 0.2065, 0.0001);
    assert.equal(wilson({ hits: 1, of: 1 }).high, 1);
  });

  test('holds its share and stays within 0 to 1', () => {
    fc.assert(
      fc.property(counts, (count) => {
        const { value, low, high } = wilson(count);
        assert.ok(0 <= low && low <= value && value <= high && high <= 1);
      }),
    );
  });

  test('a share of nothing is an error', () => {
    assert.throws(() => wilson({ hits: 0, of: 0 }), RangeError);
  });

  test('no hit in 1000 trials still allows three', () => {
    assert.equal(ruleOfThree(1000), 0.003);
    assert.equal(ruleOfThree(1), 1);
  });
});

describe('the ratio of two shares', () => {
  // Fagerland, Lydersen and Laake, "Statistical Analysis of Contingency Tables", 2017, chapter 4, with its software.
  test('is as published for 7 of 34 against 1 of 34', () => {
    const { low, high } = ratioOfShares({ hits: 7, of: 34 }, { hits: 1, of: 34 });
    near(low, 1.1537, 0.00005);
    near(high, 41.9763, 0.00005);
  });

  test('is inverted by turning it round', () => {
    fc.assert(
      fc.property(counts, counts, (first, second) => {
        const [ratio, inverse] = [ratioOfShares(first, second), ratioOfShares(second, first)];
        if (first.hits === 0 && second.hits === 0) return;
        const relative = (got: number, want: number) =>
          want === Infinity ? assert.equal(got, want) : near(got / (want || 1), want === 0 ? 0 : 1, 1e-6);
        relative(ratio.low, 1 / inverse.high);
        relative(ratio.high, 1 / inverse.low);
        assert.ok(ratio.low <= ratio.value && ratio.value <= ratio.high);
      }),
    );
  });

  test('comes close to the log interval of Katz where counts are large', () => {
    // se = sqrt(1/200 - 1/1000 + 1/400 - 1/1000): 0.5 times or over exp(1.96 se).
    const got = ratioOfShares({ hits: 200, of: 1000 }, { hits: 400, of: 1000 });
    const factor = Math.exp(1.959964 * Math.sqrt(1 / 200 - 1 / 1000 + 1 / 400 - 1 / 1000));
    near(got.low, 0.5 / factor, 0.003);
    near(got.high, 0.5 * factor, 0.003);
  });

  test('without hits in the first ends at a bound that the second allows', () => {
    const got = ratioOfShares({ hits: 0, of: 1000 }, { hits: 80, of: 1000 });
    assert.equal(got.value, 0);
    assert.equal(got.low, 0);
    assert.ok(got.high > 0.0038 / 0.08 && got.high < 0.1);
  });

  test('without hits in the second has no upper end, but a lower one', () => {
    const got = ratioOfShares({ hits: 30, of: 1000 }, { hits: 0, of: 1000 });
    assert.equal(got.value, Infinity);
    assert.equal(got.high, Infinity);
    assert.ok(got.low > 5 && got.low < 10);
  });

  test('without any hits says nothing', () => {
    const got = ratioOfShares({ hits: 0, of: 10 }, { hits: 0, of: 10 });
    assert.deepEqual(got, { value: Number.NaN, low: 0, high: Infinity });
  });
});

describe('bootstrap intervals', () => {
  const even = Array.from({ length: 1000 }, (_, i) => i / 1000);

  test('of a mean agree with the normal interval of a large sample', () => {
    const { value, low, high } = meanEstimate(even, seededRandom(1));
    const half = (1.959964 * Math.sqrt(1 / 12)) / Math.sqrt(1000);
    near(value, 0.4995, 1e-9);
    near(low, value - half, 0.002);
    near(high, value + half, 0.002);
  });

  test('of a percentile agree with the binomial interval of its rank', () => {
    // Ranks 937 to 963 of 1000: 950 -+ 1.96 sqrt(1000 x 0.95 x 0.05).
    const { value, low, high } = percentileEstimate(even, 0.95, seededRandom(1));
    near(value, 0.949, 1e-9);
    near(low, 0.936, 0.003);
    near(high, 0.962, 0.003);
  });

  test('of a ratio of means hold the ratio, and repeat with their seed', () => {
    const slower = even.map((value) => 2 * value + 1);
    const got = ratioOfMeans(even, slower, seededRandom(7));
    near(got.value, 0.4995 / 1.999, 1e-9);
    assert.ok(got.low < got.value && got.value < got.high && got.high - got.low < 0.03);
    assert.deepEqual(got, ratioOfMeans(even, slower, seededRandom(7)));
  });

  test('of one trial have no width, of none are an error', () => {
    assert.deepEqual(meanEstimate([5], seededRandom(1)), { value: 5, low: 5, high: 5 });
    assert.deepEqual(percentileEstimate([5], 0.95, seededRandom(1)), { value: 5, low: 5, high: 5 });
    assert.throws(() => meanEstimate([], seededRandom(1)), RangeError);
    assert.throws(() => ratioOfMeans([], [1], seededRandom(1)), RangeError);
  });
});
