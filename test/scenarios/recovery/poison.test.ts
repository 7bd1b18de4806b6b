import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reportFigure } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;
let workers: ServiceProcess[];

const POISON = fileURLToPath(new URL('../fixtures/poison-agent.ts', import.meta.url));
const NEIGHBOURS = 12;

beforeEach(async () => {
  fleet = await openFleet({
    settings: { worker: { blockedMs: 600, leaseMs: 4000 }, agents: { poison: { kind: 'function', file: POISON } } },
  });
  await fleet.start('api');
  const env = { MUSTER_QUEUES: 'tasks=5', NODE_OPTIONS: '--max-old-space-size=200' };
  workers = await Promise.all(Array.from({ length: 3 }, () => fleet.start('worker', env)));
});
afterEach(async () => {
  await fleet.stop();
});

/** Those that have ended by themselves. */
async function endedWorkers(): Promise<number> {
  const ends = await Promise.all(workers.map(({ exited }) => Promise.race([exited, Promise.resolve(null)])));
  return ends.filter((end) => end !== null).length;
}

describe.each([
  { poison: 'exit', maxEnded: 1, says: /a task ended its process with code 7/ },
  { poison: 'kill', maxEnded: 1, says: /was ended by SIGKILL/ },
  { poison: 'memory', maxEnded: 1, says: /^Its process (ended|was ended)/ },
  { poison: 'block', maxEnded: 0, says: /a task blocked its event loop for \d+ s/ },
])('a task that does $poison to its process', ({ poison, maxEnded, says }) => {
  it('fails by itself after a bounded number of losses, and costs its neighbours no attempt', async () => {
    const submit = (): Promise<string> => fleet.client.submit({ context: { workMs: [6000] }, execution: { maxAttempts: 1 } });
    const neighbours = await Promise.all(Array.from({ length: NEIGHBOURS }, submit));
    await waitFor(() => fleet.journal().length === NEIGHBOURS, { deadlineMs: 20_000, what: 'all neighbours to run' });
    const from = performance.now();
    const guilty = await fleet.client.submit({ agent: 'poison', context: { poison }, execution: { maxAttempts: 100 } });
    const [task] = await fleet.client.ended([guilty], 90_000);
    const failedMs = performance.now() - from;
    const tasks = await fleet.client.ended(neighbours, 60_000);
    reportFigure(
      `a task that does ${poison}, 3 workers, ${NEIGHBOURS} neighbours`,
      `${await endedWorkers()} workers ended, failed after ${(failedMs / 1000).toFixed(1)} s, neighbours done after ${((performance.now() - from) / 1000).toFixed(1)} s`,
    );
    expect(task).toMatchObject({ status: 'permanently_failed', error: { code: 'WORKER_LOST', message: expect.stringMatching(says) } });
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual(neighbours.map(() => ['completed', 1]));
    const attempts = (await Promise.all(neighbours.map((id) => fleet.client.attempts(id)))).flat();
    expect(attempts.filter(({ status }) => status !== 'success' && status !== 'interrupted')).toEqual([]);
    expect(fleet.journal().filter(({ event, task: id }) => event === 'start' && id === guilty).length).toBeLessThanOrEqual(4);
    expect(await endedWorkers()).toBeLessThanOrEqual(maxEnded);
  });
});
