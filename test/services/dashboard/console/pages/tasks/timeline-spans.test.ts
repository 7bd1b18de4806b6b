import { expect, it } from 'vitest';
import { placeOf, spansOf } from '../../../../../../services/dashboard/console/pages/tasks/timeline/timeline-spans.ts';

const at = (second: number): string => new Date(second * 1000).toISOString();
const attempt = { number: 1, worker: 'w', startedAt: at(3), endedAt: at(5), status: 'failed', notes: [] };
const error = { code: 'NETWORK_ERROR', message: 'the line was cut', retryable: true, details: null };

it('a task that failed once and waits again has a span for each wait and attempt, with the gate of the last one', () => {
  const spans = spansOf({
    steps: [
      { status: 'pending', at: at(0), note: null },
      { status: 'queued', at: at(1), note: null },
      { status: 'scheduled', at: at(2), note: 'w' },
      { status: 'running', at: at(3), note: null },
      { status: 'failed', at: at(5), note: null },
    ],
    attempts: [{ ...attempt, error }],
    reasons: [{ gate: 'retry', detail: 'waits for its retry' }],
    now: 9000,
  });
  expect(spans.map(({ name, tone, from, to, isOpen }) => [name, tone, from, to, isOpen])).toEqual([
    ['Waits for its turn', 'warn', 0, 1000, false],
    ['Waits for a worker', 'idle', 1000, 2000, false],
    ['Starts', 'idle', 2000, 3000, false],
    ['Attempt 1', 'bad', 3000, 5000, false],
    ['Waits for its retry', 'warn', 5000, 9000, true],
  ]);
  expect(spans[3]?.detail).toBe('NETWORK_ERROR');
});

it('the end of a task is no span', () => {
  const steps = [
    { status: 'running' as const, at: at(0), note: null },
    { status: 'completed' as const, at: at(4), note: null },
  ];
  const spans = spansOf({ steps, attempts: [{ ...attempt, status: 'success' }], reasons: [], now: 9000 });
  expect(spans.map(({ name, tone, to }) => [name, tone, to])).toEqual([['Attempt 1', 'good', 4000]]);
});

it('a wait without length, and one for a retry that never follows, are no spans', () => {
  const spans = spansOf({
    steps: [
      { status: 'pending', at: at(0), note: null },
      { status: 'queued', at: at(0), note: null },
      { status: 'running', at: at(1), note: null },
      { status: 'failed', at: at(2), note: null },
      { status: 'permanently_failed', at: at(3), note: null },
    ],
    attempts: [attempt],
    reasons: [],
    now: 9000,
  });
  expect(spans.map(({ name }) => name)).toEqual(['Waits for a worker', 'Attempt 1']);
});

it('a short span stays visible and within its track', () => {
  const span = { name: '', detail: null, tone: 'idle', from: 1000, to: 1000, isOpen: false } as const;
  const { left, width } = placeOf(span, { from: 0, to: 1000 });
  expect(width).toBeGreaterThan(0);
  expect(left + width).toBeLessThanOrEqual(100);
});
