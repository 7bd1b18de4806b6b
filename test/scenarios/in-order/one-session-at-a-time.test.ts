import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findOverlaps } from '../../support/fleet/journal.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet({ settings: { worker: { leaseMs: 1000 } }, env: { SHUTDOWN_GRACE_MS: '1000' } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

/** The inputs of a session's tasks in the order in which they first began. */
const firstStarts = (session: string): string[] => [
  ...new Set(
    fleet
      .journal()
      .filter((entry) => entry.event === 'start' && entry.session === session)
      .map(({ input }) => input),
  ),
];

const SESSIONS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'];
const TURNS = Array.from({ length: testEnvironment.isChaos ? 12 : 6 }, (_, turn) => `turn ${turn + 1}`);

describe('one session at a time', () => {
  it('holds over three workers that are killed and drained and tasks that are tried again, and no lane stays stuck', async () => {
    const workers: ServiceProcess[] = await Promise.all([1, 2, 3].map(() => fleet.start('worker')));
    const submit = (session: string, input: string, turn: number): Promise<string> =>
      fleet.client.submit({
        session,
        input,
        context: { workMs: [150], failRuns: turn % 3 === 1 ? 1 : 0 },
        execution: { retryDelayMs: 100, maxAttempts: 10 },
      });
    const ids: string[] = [];
    let victim = 0;
    const chaos = repeatUntilStopped(async () => {
      const replacement = await fleet.start('worker');
      const leaving = workers[victim % 3];
      workers[victim % 3] = replacement;
      if (victim % 3 === 2) await leaving?.kill('SIGTERM');
      else await leaving?.kill();
      victim += 1;
    }, 100);
    for (const [turn, input] of TURNS.entries()) ids.push(...(await Promise.all(SESSIONS.map((session) => submit(session, input, turn)))));
    const tasks = await fleet.client.ended(ids, 90_000);
    await chaos.stop();

    expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    expect(findOverlaps(fleet.journal())).toEqual([]);
    for (const session of SESSIONS) expect(firstStarts(session)).toEqual(TURNS);
    expect(victim).toBeGreaterThan(0);
    expect(tasks.filter(({ attempt }) => attempt > 1).length).toBeGreaterThan(0);
  });

  it('holds for hundreds of tasks of one call, and why names the task before', async () => {
    await fleet.start('worker');
    const count = 500;
    const items = Array.from({ length: count }, (_, at) => ({
      agent: 'work',
      session: `bulk ${at % 20}`,
      input: `${at}`.padStart(4, '0'),
      context: { workMs: [at < 20 ? 1500 : 5] },
    }));
    const answer = await fleet.client.call('POST', '/v1/tasks/bulk', { body: { items } });
    const ids = (answer.body.items as { id: string }[]).map(({ id }) => id);
    expect(ids).toHaveLength(count);
    const whys = await Promise.all(ids.slice(20, 60).map((id) => fleet.client.call('GET', `/v1/tasks/${id}/why`)));
    const reasons = whys.map(({ body }) => (body as { reasons: { gate: string; taskId: string }[] }).reasons[0]);
    // The first ones may have ended by now.
    const said = reasons.map((reason, at) => (reason === undefined || reason.taskId === ids[at] ? reason?.gate : 'another task'));
    expect(new Set([...said, 'lane', undefined])).toEqual(new Set(['lane', undefined]));
    expect(said).toContain('lane');
    const tasks = await fleet.client.ended(ids, 60_000);
    expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    for (let session = 0; session < 20; session += 1) {
      const inputs = firstStarts(`bulk ${session}`);
      expect(inputs).toEqual(inputs.toSorted());
      expect(inputs).toHaveLength(count / 20);
    }
  });

  it("holds when a failed task of it is retried by Bull Board's own button: it takes its place in the order again", async () => {
    await Promise.all([fleet.start('worker'), fleet.start('worker')]);
    const { url } = await fleet.start('dashboard');
    const submit = (input: string, { failRuns = 0, workMs = 300 } = {}): Promise<string> =>
      fleet.client.submit({ session: 'board', input, context: { workMs: [workMs], failRuns }, execution: { maxAttempts: 1 } });
    const failed = await submit('fails once', { failRuns: 1 });
    await fleet.client.reaches(failed, ['permanently_failed']);
    const ownPage = { 'sec-fetch-site': 'same-origin' };
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...ownPage };
    const signIn = await fetch(`${url}/sign-in`, { method: 'POST', redirect: 'manual', headers: form, body: `key=${fleet.adminKey}` });
    const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    // It runs for longer than the board needs to take the retry, so that the retry finds the third one waiting.
    const after = [await submit('second', { workMs: 4000 }), await submit('third')];
    await fleet.client.reaches(after[0] ?? '', ['running']);
    await waitFor(
      async () =>
        (await fleet.client.call('PUT', `/board/api/queues/tasks/${failed}/retry`, { url, key: null, headers: { cookie, ...ownPage } }))
          .status === 200,
      { deadlineMs: 20_000, what: 'the board to take the retry' },
    );
    const tasks = await fleet.client.ended([failed, ...after], 20_000);
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(findOverlaps(fleet.journal())).toEqual([]);
    const runs = fleet.journal().filter(({ event }) => event === 'start');
    expect(runs.map(({ input }) => input)).toEqual(['fails once', 'second', 'fails once', 'third']);
  });
});
