import { afterEach, describe, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let worker: ServiceProcess;

const LONG = { workMs: [120_000] };
/** Of a worker's 28 slots, 6 are kept for critical tasks. */
const ORDINARY_SLOTS = 22;
/** 15 percent of 28. */
const LOW_SLOTS = 4;

afterEach(async () => {
  await fleet.stop();
});

async function open(env: Record<string, string> = {}): Promise<void> {
  // Nothing is found by polling, only by wake-ups.
  fleet = await openFleet({ env, settings: { consumers: { pollMs: 60_000, stoppedAfterMs: 65_000 } } });
  await fleet.start('api');
  worker = await fleet.start('worker');
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`);
const starts = (): string[] => fleet.journal().flatMap(({ event, input }) => (event === 'start' ? [input] : []));
const running = (): number => fleet.journal().reduce((sum, { event }) => sum + (event === 'start' ? 1 : -1), 0);
const untilRunning = (count: number): Promise<unknown> =>
  waitFor(() => running() === count, { deadlineMs: 30_000, what: `${count} tasks that run` });

const work = (n: number): { workMs: [number] } => ({ workMs: [600 + (n % 7) * 150] });

const isOther = (input: string): boolean => input.startsWith('other');

async function submitAll(inputs: readonly string[], request: object): Promise<string[]> {
  return await Promise.all(inputs.map((input) => fleet.client.submit({ input, ...request })));
}

async function say(session: string, text: string, context: object): Promise<string> {
  const answer = await fleet.client.call('POST', `/v1/sessions/${session}/messages`, { body: { text, agent: 'work', context } });
  expect(answer.status).toBe(202);
  return answer.body.id as string;
}

describe('a worker with all queues', () => {
  it('runs forty API tasks in all its slots but those of critical tasks, which start beside them', async () => {
    await open();
    await submitAll(numbers(40), { context: LONG });
    await untilRunning(ORDINARY_SLOTS);
    await submitAll(['critical'], { context: LONG, priority: 'critical' });
    await untilRunning(ORDINARY_SLOTS + 1);
    expect(starts().at(-1)).toBe('critical');
  });

  it('gives the next free slot to a message that comes behind a flood of API tasks', async () => {
    await open();
    await submitAll(numbers(200), { context: LONG });
    await untilRunning(ORDINARY_SLOTS);
    const message = await say('late', 'a message', LONG);
    await waitFor(async () => (await fleet.client.task(message)).status === 'queued', { deadlineMs: 20_000, what: 'the message to wait' });
    const before = starts().length;
    await fleet.client.call('POST', `/v1/tasks/${fleet.journal()[0]?.task}/cancel`);
    await waitFor(() => starts().length > before, { deadlineMs: 20_000, what: 'another start' });
    expect(starts()[before]).toBe('a message');
  });

  it('runs low tasks in all slots while nothing else waits, and beside others at most their share', async () => {
    await open();
    await submitAll(numbers(80), { context: { workMs: [1000] }, priority: 'low' });
    await untilRunning(ORDINARY_SLOTS);
    const others = await submitAll(
      numbers(80).map((n) => `other ${n}`),
      { context: { workMs: [1000] } },
    );
    const from = fleet.journal().length;
    await fleet.client.ended(others, 60_000);
    const journal = fleet.journal();
    const lows = journal.map(({ event }, at) => {
      const before = journal.slice(0, at + 1).filter(({ input }) => !isOther(input));
      return { event, count: before.reduce((sum, each) => sum + (each.event === 'start' ? 1 : -1), 0) };
    });
    // Until then others wait in any case.
    const to = journal.findLastIndex(({ event, input }) => event === 'start' && isOther(input)) - ORDINARY_SLOTS;
    const started = lows.slice(from, to).filter(({ event }, at) => event === 'start' && !isOther(journal[from + at]?.input ?? ''));
    expect(started.length).toBeGreaterThan(0);
    // A low ticket may also start while the tickets of the others are still on their way from the ledger.
    expect(Math.max(...started.map(({ count }) => count))).toBeLessThanOrEqual(2 * LOW_SLOTS);
  });
});

interface Mix {
  env: Record<string, string>;
  /** Ordinary tasks that the fleet may run at once. */
  slots: number;
}

/** What share of the time of all slots was idle, from the first moment when all were in use to the last start. */
function idleTime(slots: number): { share: number; max: number } {
  const journal = fleet.journal().toSorted((one, other) => one.at - other.at);
  const counts: { at: number; count: number }[] = [];
  let count = 0;
  for (const { event, at } of journal) counts.push({ at, count: (count += event === 'start' ? 1 : -1) });
  const from = counts.findIndex((each) => each.count >= slots);
  const to = journal.findLastIndex(({ event }) => event === 'start');
  const window = counts.slice(from, to + 1);
  const idle = window.slice(1).reduce((sum, { at }, position) => {
    const before = window[position] ?? { at, count: slots };
    return sum + (at - before.at) * (slots - before.count);
  }, 0);
  const total = slots * ((window.at(-1)?.at ?? 0) - (window[0]?.at ?? 0));
  return { share: idle / total, max: Math.max(...counts.map((each) => each.count)) };
}

describe('slots while mixed work waits', () => {
  it.each([
    ['with room in the fleet', { env: {}, slots: 2 * 10 }],
    ['under a cap of the fleet, of which 3 are kept for critical tasks', { env: { MUSTER_MAX_CONCURRENT: '15' }, slots: 12 }],
  ] satisfies [string, Mix][])('are all in use, %s', async (_which, { env, slots }) => {
    await open({ MUSTER_QUEUES: 'critical=2,chat=4,tasks=4,background=2,maintenance=1', ...env });
    await fleet.start('worker');
    const ids = await Promise.all(
      numbers(160).map(async (input, n) => {
        if (n % 4 === 0) return await say(`session-${n}`, input, work(n));
        return await fleet.client.submit({ input, context: work(n), priority: n % 4 === 1 ? 'low' : 1 + (n % 10) });
      }),
    );
    const ended = await fleet.client.ended(ids, 120_000);
    expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    const { share, max } = idleTime(slots);
    reportFigure('idle slot time while tasks wait', `${(share * 100).toFixed(1)} percent of ${slots} slots`);
    expect(max).toBe(slots);
    // Slots that belonged to queues would be idle for more than half of the time.
    expect(share).toBeLessThan(0.5);
  });
});

describe('a ticket whose wake-up reaches a full worker first', () => {
  it('starts on another worker that has a free slot', async () => {
    await open({ MUSTER_QUEUES: 'chat=1,tasks=1' });
    const full = worker.pid;
    await submitAll(['a', 'b'], { context: LONG });
    await untilRunning(2);
    const other = await fleet.start('worker');
    await say('late', 'a message', LONG);
    await untilRunning(3);
    expect(fleet.journal().map(({ pid }) => pid)).toEqual([full, full, other.pid]);
  });
});
