import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

const PRIORITIES = ['3', '8', '2', '5', '10', '9', '7', '6', '4', 'critical'];
const BEST_FIRST = ['critical', '10', '9', '8', '7', '6', '5', '4', '3', '2'];
const LONG = { workMs: [120_000] };
const WATCH_MS = 4000;
/** Two workers poll twice a second for room; refused claims would be thousands. */
const MORE_COMMANDS_PER_SECOND = 600;

afterEach(async () => {
  await fleet.stop();
});

async function open(env: Record<string, string>, workers = 1): Promise<void> {
  // Looking up tickets that wait is not what a full fleet costs.
  fleet = await openFleet({ env, settings: { worker: { ticketAuditMs: 600_000 } } });
  await fleet.start('api');
  await Promise.all(Array.from({ length: workers }, () => fleet.start('worker')));
}

const priorityOf = (text: string): { priority: number | 'critical' } => ({ priority: text === 'critical' ? text : Number(text) });
const starts = (): string[] => fleet.journal().flatMap(({ event, input }) => (event === 'start' ? [input] : []));
/** How many ran at once after each entry of the agents' journal; a run that is aborted ends there. */
function runningOverTime(): number[] {
  let now = 0;
  return fleet.journal().map(({ event }) => (now += event === 'start' ? 1 : -1));
}
const running = (): number => runningOverTime().at(-1) ?? 0;
const maxAtOnce = (): number => Math.max(...runningOverTime());

async function submitAll(inputs: readonly string[], request: (input: string) => object): Promise<string[]> {
  const ids: string[] = [];
  for (const input of inputs) ids.push(await fleet.client.submit({ input, context: { workMs: [20] }, ...request(input) }));
  return ids;
}

async function holdFleet(): Promise<string> {
  const id = await fleet.client.submit({ input: 'holder', context: LONG });
  await fleet.client.reaches(id, ['running']);
  return id;
}

async function cancel(...ids: string[]): Promise<void> {
  for (const id of ids) await fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
}

describe('a fleet that may run one task at a time', () => {
  it.each(
    firstOf([
      ['one worker', {}, 1],
      ['four shards', { SHARDS: '4' }, 2],
    ] as const),
  )('starts what waits by priority, with %s', async (_what, env, workers) => {
    await open({ MUSTER_MAX_CONCURRENT: '1', ...env }, workers);
    const holder = await holdFleet();
    const ids = await submitAll(PRIORITIES, priorityOf);
    // The worker knows of the best one, which came last.
    const why = async (): Promise<string> => JSON.stringify((await fleet.client.call('GET', `/v1/tasks/${ids.at(-1)}/why`)).body);
    await waitFor(async () => (await why()).includes('fleet cap 1/1'), { deadlineMs: 60_000, what: 'the last one to wait for the fleet' });
    await cancel(holder);
    await fleet.client.ended(ids, 30_000);
    expect(starts().slice(1)).toEqual(BEST_FIRST);
    expect(maxAtOnce()).toBe(1);
  });

  it('says in why how full it is and how many are in front', async () => {
    await open({ MUSTER_MAX_CONCURRENT: '1' });
    await holdFleet();
    await submitAll(['7', '9'], priorityOf);
    const [last = ''] = await submitAll(['5'], priorityOf);
    const why = async (): Promise<unknown> => (await fleet.client.call('GET', `/v1/tasks/${last}/why`)).body;
    const detail = 'fleet cap 1/1, about 2 tickets in front';
    await waitFor(async () => JSON.stringify(await why()).includes(detail), { deadlineMs: 20_000, what: detail });
    // Nothing has ended yet, so nobody knows when it will start.
    expect(await why()).toMatchObject({ reasons: [{ gate: 'fleet', detail }], estimatedStartMs: null });
  });
});

describe('a fleet that may run eight tasks at a time', () => {
  it('runs eight of one tenant with four shards, of which one is kept for critical work', async () => {
    await open({ MUSTER_MAX_CONCURRENT: '8', SHARDS: '4' }, 2);
    const [first = ''] = await submitAll(
      Array.from({ length: 20 }, (_, n) => `${n}`),
      () => ({ context: LONG }),
    );
    await waitFor(() => running() === 7, { deadlineMs: 20_000, what: 'seven ordinary runs' });
    const [, last = ''] = await submitAll(['a', 'b'], () => ({ priority: 'critical', context: LONG }));
    await waitFor(() => running() === 8, { deadlineMs: 20_000, what: 'a critical run beside them' });
    expect(starts().at(-1)).toBe('a');
    const reasons = async (): Promise<string> =>
      JSON.stringify(((await fleet.client.call('GET', `/v1/tasks/${last}/why`)).body as { reasons?: unknown }).reasons);
    await waitFor(async () => (await reasons()).includes('fleet cap 8/8'), {
      deadlineMs: 20_000,
      what: 'its worker to wait for the fleet',
    });
    await cancel(first);
    await waitFor(() => starts().at(-1) === 'b', { deadlineMs: 20_000, what: 'the other critical run, before all that waited longer' });
    expect(maxAtOnce()).toBe(8);
  });

  it.runIf(testEnvironment.isChaos)('asks Redis for little more while tasks wait than while none does', async () => {
    await open({ MUSTER_MAX_CONCURRENT: '8', SHARDS: '4' }, 2);
    const inputs = Array.from({ length: 27 }, (_, n) => `${n}`);
    await submitAll(inputs.slice(0, 7), () => ({ context: LONG }));
    await waitFor(() => running() === 7, { deadlineMs: 20_000, what: 'seven runs' });
    const quiet = await commandsPerSecond();
    await submitAll(inputs.slice(7), () => ({ context: LONG }));
    const full = await commandsPerSecond();
    reportFigure('commands a second', `${quiet} while none waits, ${full} while twenty wait`);
    expect(full - quiet).toBeLessThan(MORE_COMMANDS_PER_SECOND);
  });

  it('has room again for what a killed worker ran', async () => {
    await open({ MUSTER_MAX_CONCURRENT: '8' });
    const doomed = await fleet.start('worker');
    const ids = await submitAll(
      Array.from({ length: 40 }, (_, n) => `${n}`),
      () => ({ context: { workMs: [200] } }),
    );
    await waitFor(() => fleet.journal().some(({ pid }) => pid === doomed.pid), { deadlineMs: 20_000, what: 'a run of the doomed worker' });
    await doomed.kill();
    const ended = await fleet.client.ended(ids, 60_000);
    expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
  });
});

/** What Redis is asked now. */
async function commandsPerSecond(): Promise<number> {
  const redis = connectRedis({ url: fleet.redis.url, name: 'test', log: createLog({ level: 'silent', service: 'test' }) });
  const count = async (): Promise<number> => Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
  const before = await count();
  await wait(WATCH_MS);
  const after = await count();
  redis.disconnect();
  return Math.round(((after - before) * 1000) / WATCH_MS);
}
