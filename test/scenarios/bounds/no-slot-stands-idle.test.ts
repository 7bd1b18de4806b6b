import { afterEach, describe, expect, it } from 'vitest';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let worker: ServiceProcess;

const LONG = { workMs: [120_000] };
/** Of a worker's 28 slots, 6 are kept for critical tasks and 2 for people. */
const PEOPLE_SLOTS = 2;
const OTHER_SLOTS = 20;
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
  it('runs forty API tasks in all its slots but those of critical tasks and of people, which start beside them', async () => {
    await open();
    await submitAll(numbers(40), { context: LONG });
    await untilRunning(OTHER_SLOTS);
    await submitAll(['critical'], { context: LONG, priority: 'critical' });
    await untilRunning(OTHER_SLOTS + 1);
    expect(starts().at(-1)).toBe('critical');
    await say('person', 'a message', LONG);
    await untilRunning(OTHER_SLOTS + 2);
    expect(starts().at(-1)).toBe('a message');
  });

  it.runIf(testEnvironment.isChaos)('gives the next free slot to a message that comes behind a flood of API tasks', async () => {
    await open();
    await submitAll(numbers(200), { context: LONG });
    await untilRunning(OTHER_SLOTS);
    for (let person = 0; person < PEOPLE_SLOTS; person += 1) await say(`person ${person}`, 'another message', LONG);
    await untilRunning(OTHER_SLOTS + PEOPLE_SLOTS);
    const message = await say('late', 'a message', LONG);
    await waitFor(async () => (await fleet.client.task(message)).status === 'queued', { deadlineMs: 20_000, what: 'the message to wait' });
    const before = starts().length;
    await fleet.client.call('POST', `/v1/tasks/${fleet.journal()[0]?.task}/cancel`);
    await waitFor(() => starts().length > before, { deadlineMs: 20_000, what: 'another start' });
    expect(starts()[before]).toBe('a message');
  });

  it.runIf(testEnvironment.isChaos)(
    'runs low tasks in all slots while nothing else waits, and beside others at most their share',
    async () => {
      await open();
      await submitAll(numbers(80), { context: { workMs: [1000] }, priority: 'low' });
      await untilRunning(OTHER_SLOTS);
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
      const to = journal.findLastIndex(({ event, input }) => event === 'start' && isOther(input)) - OTHER_SLOTS;
      const started = lows.slice(from, to).filter(({ event }, at) => event === 'start' && !isOther(journal[from + at]?.input ?? ''));
      expect(started.length).toBeGreaterThan(0);
      // A low ticket may also start while the tickets of the others are still on their way from the ledger.
      expect(Math.max(...started.map(({ count }) => count))).toBeLessThanOrEqual(2 * LOW_SLOTS);
    },
  );
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
