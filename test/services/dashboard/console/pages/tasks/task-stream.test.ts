import { expect, it } from 'vitest';
import type { OutputEvent } from '#shared/client/openapi.gen.ts';
import { addOutput, NOTHING_WRITTEN } from '../../../../../../services/dashboard/console/pages/tasks/task-stream.ts';

const textOf = (...events: OutputEvent[]): string => events.reduce(addOutput, NOTHING_WRITTEN).text;

it('the output is the text of the current run, in order', () => {
  expect(textOf({ attempt: 1, seq: 1, text: 'a ' }, { attempt: 1, seq: 2, text: '<b>' })).toBe('a <b>');
});

it('the output restarts with an interrupted run, and with a later attempt', () => {
  expect(textOf({ attempt: 1, seq: 1, text: 'of an interrupted run' }, { attempt: 1, seq: 1, text: 'a' })).toBe('a');
  expect(textOf({ attempt: 1, seq: 2, text: 'first' }, { attempt: 2, seq: 1, text: 'second' })).toBe('second');
});
