import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { viewChecks } from '#shared/findings/checks.ts';
import { inspectAll } from '#shared/findings/inspection.ts';
import { REDIS_INSPECTIONS } from '#shared/findings/kinds/redis.ts';
import { installationFacts } from '#shared/findings/facts/installation-facts.ts';
import { createLedger } from '#shared/ledger/ledger.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { type Accepted, acceptTask } from '#shared/queue/accept/accept-task.ts';
import { acceptTasks } from '#shared/queue/accept/accept-tasks.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { updateFleetPressure } from '#shared/queue/pressure/fleet-pressure.ts';
import { readMemory } from '#shared/redis/replies.ts';
import { systemClock } from '#shared/time/clock.ts';
import { useParts } from '../../../support/use-parts.ts';
import { driveTasks } from '../../../services/api/support/drive-tasks.ts';

const parts = await useParts();
const drive = driveTasks(parts);
let process: Pick<Parts, 'ledger' | 'relay' | 'queues' | 'log' | 'findAgent'>;
/** Has read nothing yet, like a process that has just started. */
beforeEach(() => {
  process = { ...parts, ledger: createLedger({ ...parts.ledger }) };
});
afterEach(async () => {
  await parts.redis.config('SET', 'maxmemory', '0');
  await parts.relay.idle();
  await parts.redis.flushall();
});

/** What an empty Redis uses is so little that nothing fits into the rest of it. */
const BALLAST_BYTES = 40_000_000;

/** Gives Redis so much memory that it uses this share of it. */
async function fill(share: number): Promise<void> {
  await parts.redis.config('SET', 'maxmemory', '0');
  await parts.redis.setrange('ballast', BALLAST_BYTES, 'x');
  const [node] = await readMemory(parts.redis);
  await parts.redis.config('SET', 'maxmemory', `${Math.round((node?.used ?? 0) / share)}`);
}

const requestOf = (request: Partial<AcceptRequest> = {}): AcceptRequest => ({ tenant: 'default', agent: 'echo', input: 'x', ...request });
const submit = async (request: Partial<AcceptRequest> = {}): Promise<Accepted> => await acceptTask(process, requestOf(request));

const look = async (): Promise<{ state: string; detail: string }[]> => {
  const ports = { ...parts, settings: parts.ledger.settings, seal: parts.ledger.seal };
  const inspections = REDIS_INSPECTIONS.filter(({ name }) => name === 'Redis memory');
  return viewChecks(await inspectAll(inspections, installationFacts(ports, systemClock, { maxRead: 1 })));
};

describe('a Redis that is nearly full', () => {
  it.each(['api', 'chat', 'webhook', 'schedule', 'proactive'] as const)('takes no new work of the source %s', async (source) => {
    await fill(0.96);
    await expect(submit({ source, priority: 'critical' })).rejects.toMatchObject({ code: 'unavailable.memory', retryAfterMs: 30_000 });
  });

  it('refuses each item of a bulk', async () => {
    await fill(0.96);
    const results = await acceptTasks(process, [requestOf(), requestOf()]);
    expect(results).toMatchObject([{ code: 'unavailable.memory' }, { code: 'unavailable.memory' }]);
  });

  it('lets what was accepted before run, have sub-tasks and end, and answers a repeated request', async () => {
    const parent = await submit({ idempotencyKey: 'k' });
    await fill(0.96);
    process = { ...parts, ledger: createLedger({ ...parts.ledger }) };
    await drive.start(parent.id);
    expect(await submit({ source: 'delegation', parentTaskId: parent.id })).toMatchObject({ isDuplicate: false });
    expect(await submit({ idempotencyKey: 'k' })).toMatchObject({ id: parent.id, isDuplicate: true });
    await expect(submit()).rejects.toMatchObject({ code: 'unavailable.memory' });
  });

  it('takes new work again when it has room', async () => {
    await fill(0.96);
    await expect(submit()).rejects.toMatchObject({ code: 'unavailable.memory' });
    await fill(0.9);
    await expect
      .poll(
        async () =>
          await submit().then(
            () => 'accepted',
            () => 'refused',
          ),
        { timeout: 5000 },
      )
      .toBe('accepted');
  });

  it('is a finding and gives the fleet a level, which nothing else has', async () => {
    expect(await look()).toMatchObject([{ state: 'ok', detail: expect.stringContaining('has no bound') }]);
    await fill(0.85);
    expect(await look()).toMatchObject([{ state: 'warn', detail: expect.stringMatching(/\b8\d %/) }]);
    expect(await updateFleetPressure(process.ledger, [])).toMatchObject({ level: 'warning', depth: 0 });
    // A process knows of the fleet's level from its second task on.
    await submit();
    await expect.poll(async () => (await submit()).pressure, { timeout: 5000 }).toMatchObject({ level: 'warning', scope: 'fleet' });
    await fill(0.97);
    expect(await look()).toMatchObject([{ state: 'fail', detail: expect.stringContaining('New work is refused') }]);
    expect(await updateFleetPressure(process.ledger, [])).toMatchObject({ level: 'critical', previous: 'warning' });
  });
});
