import { expect, it } from 'vitest';
import { type Finding, FINDING_CODES, findingOf } from '#shared/findings/finding.ts';
import type { Inspected } from '#shared/findings/inspection.ts';
import { FLEET_INSPECTIONS, TENANT_INSPECTIONS } from '#shared/findings/inspections.ts';
import { judgeEnds } from '#shared/findings/kinds/agents.ts';
import { judgeWaits } from '#shared/findings/kinds/waits.ts';
import { type Acknowledgement, MAX_KEPT, reconcile, type StoredList } from '#shared/findings/list/reconcile.ts';

const NOW = 1000;
const dead = (subject: string, severity: Finding['severity'] = 'warning', text = 'It is dead.'): Finding =>
  findingOf({ code: 'worker.dead', severity, text, helps: 'See why.', link: '/fleet', subject });
const looked = (result: Inspected['result']): Inspected[] => [{ name: 'Workers', codes: ['worker.dead'], result }];
const stored = (findings: Finding[], acknowledged: [string, Acknowledgement][] = []): StoredList => ({
  findings,
  acknowledged: new Map(acknowledged),
});
const known = (severity: Finding['severity']): Acknowledgement => ({ at: 1, by: 'key', severity });

it('a finding has the time since when it is known, and is opened once', () => {
  const first = reconcile(stored([]), looked({ findings: [dead('a')] }), NOW);
  expect(first).toMatchObject({
    kept: [{ id: 'worker.dead:a', since: NOW }],
    opened: [{ id: 'worker.dead:a' }],
    changed: [],
    resolved: [],
  });
  const again = reconcile(stored(first.kept), looked({ findings: [dead('a')] }), NOW + 1);
  expect(again).toMatchObject({ kept: [{ since: NOW }], opened: [], changed: [], resolved: [] });
  const other = reconcile(stored(first.kept), looked({ findings: [dead('a', 'warning', 'It is long dead.')] }), NOW + 1);
  expect(other).toMatchObject({ opened: [], changed: [{ since: NOW, text: 'It is long dead.' }] });
});

it('what is found no more is resolved, unless its inspection keeps it, or was not made', () => {
  const before = stored([{ ...dead('a'), since: 1 }]);
  expect(reconcile(before, looked({ findings: [] }), NOW).resolved).toMatchObject([{ id: 'worker.dead:a' }]);
  expect(reconcile(before, looked({ findings: [], keeps: ({ subject }) => subject === 'a' }), NOW).kept).toHaveLength(1);
  expect(reconcile(before, looked({ skipped: 'Redis does not tell' }), NOW).kept).toHaveLength(1);
  expect(reconcile(before, [], NOW).kept).toHaveLength(1);
});

it('an acknowledged finding is kept while it lasts, is shown again when it becomes worse, and ends where only memory kept it', () => {
  const before = stored([{ ...dead('a'), since: 1 }], [['worker.dead:a', known('warning')]]);
  expect(reconcile(before, looked({ findings: [dead('a')] }), NOW).kept).toMatchObject([{ acknowledged: { by: 'key' } }]);
  expect(reconcile(before, looked({ findings: [dead('a', 'critical')] }), NOW).kept).toMatchObject([{ acknowledged: null }]);
  expect(reconcile(before, looked({ findings: [], keeps: () => true }), NOW)).toMatchObject({
    kept: [],
    resolved: [{ id: 'worker.dead:a' }],
  });
});

it('a list keeps no more than it may: the worst, those that nobody knows of, the newest', () => {
  const many = Array.from({ length: MAX_KEPT }, (_, at) => ({ ...dead(`${at}`), since: at }));
  const { kept, resolved } = reconcile(stored(many), looked({ findings: [...many, dead('worst', 'critical')] }), NOW + MAX_KEPT);
  expect([kept.length, kept[0]?.subject, resolved.map(({ subject }) => subject)]).toEqual([MAX_KEPT, 'worst', ['0']]);
});

it('each code is of one inspection of a list, and each is found somewhere', () => {
  const lists = [FLEET_INSPECTIONS, TENANT_INSPECTIONS].map((inspections) => inspections.flatMap(({ codes }) => codes));
  for (const codes of lists) expect(codes).toHaveLength(new Set(codes).size);
  expect(new Set(lists.flat())).toEqual(new Set(FINDING_CODES));
});

it('an agent that fails stays found until an attempt of it completes', () => {
  const bounds = { failingMs: 600_000, failingPercent: 50, failingAttempts: 5 } as Parameters<typeof judgeEnds>[1];
  const [failing] = judgeEnds([{ agent: 'a', completed: 0, failed: 9, retried: 0 }], bounds).findings;
  if (failing === undefined) throw new Error('Nothing was found');
  expect(judgeEnds([], bounds).keeps?.(failing)).toBe(true);
  expect(judgeEnds([{ agent: 'a', completed: 0, failed: 1, retried: 0 }], bounds).keeps?.(failing)).toBe(true);
  expect(judgeEnds([{ agent: 'a', completed: 1, failed: 0, retried: 0 }], bounds).keeps?.(failing)).toBe(false);
});

it('a long wait says for what, how long, and what helps', () => {
  const wait = { gate: 'queue', count: 62, oldestMs: 725_000, detail: 'all 28 slots are busy', helps: 'Add a worker.' } as const;
  expect(judgeWaits([wait], NOW * NOW).findings).toMatchObject([
    {
      id: 'task.waiting:queue',
      severity: 'warning',
      text: '62 tasks wait, the first for 12 min 5 s: all 28 slots are busy.',
      helps: 'Add a worker.',
      since: NOW * NOW - 725_000,
    },
  ]);
});
