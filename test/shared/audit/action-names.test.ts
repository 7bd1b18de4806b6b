import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeAction } from '#shared/audit/action-names.ts';

const { paths }: { paths: Record<string, Record<string, { operationId: string }>> } = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
);
/** Calls that change nothing leave no entry. */
const UNAUDITED = new Set(['previewBudget', 'previewFleetLimits', 'previewLimits', 'previewSchedule']);

it('every call that changes something has a name for people', () => {
  const changes = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, { operationId }]) => (method === 'get' || UNAUDITED.has(operationId) ? [] : [operationId])),
  );
  const unnamed = changes.filter((id) => describeAction(id) === id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase());
  expect(changes.length).toBeGreaterThan(50);
  expect(unnamed, 'to be named in shared/audit/action-names.ts').toEqual([]);
});

it('an action of the board or of a release to come reads as words', () => {
  expect(describeAction('cancelTask')).toBe('cancelled a task');
  expect(describeAction('boardEmpty')).toBe('emptied a queue on the board');
  expect(describeAction('boardPromoteAll')).toBe('"promote all" on the board');
  expect(describeAction('chatNovel')).toBe('"novel" in a chat');
  expect(describeAction('paintTask')).toBe('paint task');
  expect(describeAction('constructor')).toBe('constructor');
});
