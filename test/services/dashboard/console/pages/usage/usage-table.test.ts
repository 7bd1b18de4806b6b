import { expect, it } from 'vitest';
import { pathOf } from '../../../../../../services/dashboard/console/pages/usage/usage-path.ts';

const DAY = { since: '2026-05-01', until: '2026-05-01' };

it.each([
  ['agent', 'a b', DAY, '/tasks?agent=a+b&since=2026-05-01T00%3A00%3A00Z&until=2026-05-02T00%3A00%3A00Z'],
  ['schedule', 's', { since: null, until: null }, '/tasks?schedule=s'],
  ['task', '01J', DAY, '/tasks/01J'],
  ['day', '2026-05-01', { since: null, until: null }, '/usage?since=2026-05-01&until=2026-05-01'],
  ['model', 'large', DAY, null],
] as const)('a row of usage by %s leads to its tasks of the chosen days', (group, name, days, path) => {
  expect(pathOf(group, name, days)).toBe(path);
});
