// Buttons shown as disabled keep the focus, and do nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDisabled, onClick, setDisabled } from './disabled-button.ts';

test('a button shown as disabled ignores clicks until it is enabled, and is never disabled for the browser', () => {
  const button = Object.assign(new EventTarget(), { ariaDisabled: null, disabled: false });
  const element = button as unknown as HTMLButtonElement;
  let clicks = 0;
  onClick(element, () => {
    clicks += 1;
  });
  for (const disabled of [true, false]) {
    setDisabled(element, disabled);
    assert.deepEqual([isDisabled(element), element.disabled], [disabled, false]);
    button.dispatchEvent(new Event('click'));
  }
  assert.equal(clicks, 1);
});
