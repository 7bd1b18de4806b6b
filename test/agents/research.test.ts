import { expect, it } from 'vitest';
import { runAgent } from 'muster/testing';
import { TaskFailure } from '#shared/config/define-config.ts';
import { run } from '../../agents/research.ts';

const closed = (): never => {
  throw new TaskFailure('NETWORK_ERROR', 'The library is closed');
};

it('the example that researches sums up what its three sub-tasks found, and what they did not', async () => {
  const asked: unknown[] = [];
  const reader = (input: unknown): string => {
    asked.push(input);
    if (asked.length === 2) closed();
    return `found ${asked.length}`;
  };
  const { output, result } = await runAgent(run, { input: 'Tea?', task: { context: { reader: 'reader' } }, delegates: { reader } });
  expect(asked).toEqual(['Tea? (for)', 'Tea? (against)', 'Tea? (open questions)']);
  expect(output).toBe('for: found 1\nagainst: nothing (NETWORK_ERROR)\nopen questions: found 3');
  expect(result).toMatchObject({ notes: [{ side: 'for', text: 'found 1' }, { error: { code: 'NETWORK_ERROR' } }, { text: 'found 3' }] });
});

it('the example that researches fails when no side could be looked at', async () => {
  const ran = runAgent(run, { input: 'Tea?', delegates: { 'word-count': closed } });
  await expect(ran).rejects.toMatchObject({ code: 'NO_NOTES' });
});
