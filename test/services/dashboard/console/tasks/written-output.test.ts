import { expect, it } from 'vitest';
import { addOutput, NOTHING_WRITTEN } from '../../../../../services/dashboard/console/tasks/written-output.ts';

const textOf = (...events: unknown[]): string => events.reduce(addOutput, NOTHING_WRITTEN).text;

it('is what the present run wrote, in order', () => {
  expect(textOf({ attempt: 1, seq: 1, text: 'a ' }, { attempt: 1, seq: 2, text: '<b>' })).toBe('a <b>');
});

it('begins again with a run that was interrupted, and with a later attempt', () => {
  expect(textOf({ attempt: 1, seq: 1, text: 'of an interrupted run' }, { attempt: 1, seq: 1, text: 'a' })).toBe('a');
  expect(textOf({ attempt: 1, seq: 2, text: 'first' }, { attempt: 2, seq: 1, text: 'second' })).toBe('second');
});

it('is left as it is by what it cannot read', () => {
  expect(textOf({ attempt: 1, seq: 1, text: 'a' }, { attempt: 1, text: 3 }, null)).toBe('a');
});
