import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { findOverlaps } from '../../support/fleet/journal.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const LOAD_MS = testEnvironment.isChaos ? testEnvironment.chaosMinutes * 60_000 : 8000;
/** Each start reads the journal of all: at full size less is sent at once. */
const PAUSES = testEnvironment.isChaos ? 4 : 1;
const KILL_EVERY_MS = 2000;
const WORKERS = 3;
const SESSIONS = ['ada', 'ben', 'cleo', 'dora', 'emil', 'fay'];
const BULK = 10;
/** What came back from killed workers takes seconds, and a session's turns come one after the other. */
const END_MS = 90_000;

let fleet: Fleet;
let api: ServiceProcess;
const workers: ServiceProcess[] = [];

beforeAll(async () => {
  fleet = await openFleet({ env: { SHUTDOWN_GRACE_MS: '1000' } });
  api = await fleet.start('api');
  await fleet.start('scheduler');
  workers.push(...(await Promise.all(Array.from({ length: WORKERS }, () => fleet.start('worker')))));
});
afterAll(async () => {
  await fleet.stop();
});

/** The id of each accepted request, by its input. */
const accepted = new Map<string, string>();
let count = 0;

const newInput = (kind: string): string => {
  count += 1;
  return `${kind}-${count}`;
};

/** Sends it under its key until it is accepted, as a client does whose answers may get lost. Returns the answer's body. */
async function send(path: string, key: string, body: object): Promise<{ id: string; items: { id: string }[] }> {
  const headers = { 'idempotency-key': key };
  const once = async () => await fleet.client.call('POST', path, { headers, body }).catch(() => null);
  const answered = async () => [await once()].find((found) => found !== null && found.status < 500);
  const answer = await waitFor(answered, { deadlineMs: 60_000, everyMs: 200, what: `${path} to be answered` });
  if (answer.status >= 300) throw new Error(`${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body as { id: string; items: { id: string }[] };
}

const work = (input: string) => ({
  agent: 'work',
  input,
  context: { workMs: [50 + (count % 5) * 100], failRuns: count % 7 === 0 ? 1 : 0 },
});
const execution = { retryDelayMs: 100, maxAttempts: 5 };

async function sendTask(): Promise<void> {
  const input = newInput('task');
  const later = count % 5 === 0 ? { scheduledFor: new Date(Date.now() + 2000).toISOString() } : {};
  const body = { ...work(input), execution, priority: 1 + (count % 10), ...later };
  accepted.set(input, (await send('/v1/tasks', input, body)).id);
}

async function sendAwaited(): Promise<void> {
  const input = newInput('awaited');
  accepted.set(input, (await send('/v1/tasks?waitMs=1000', input, { ...work(input), execution })).id);
}

async function sendBulk(): Promise<void> {
  const tasks = Array.from({ length: BULK }, () => ({ ...work(newInput('bulk')), execution, priority: 8 }));
  const { items } = await send('/v1/tasks/bulk', tasks[0]?.input ?? '', { items: tasks });
  for (const [place, { input }] of tasks.entries()) accepted.set(input, items[place]?.id ?? '');
}

/** Messages of one session, each sent once the one before it was accepted: so their order is known. */
const sendTurn = (session: string) => async (): Promise<void> => {
  const input = newInput(session);
  const { id } = await send(`/v1/sessions/${session}/messages`, input, { text: input, agent: 'work', context: { workMs: [100] } });
  accepted.set(input, id);
};

let killed = 0;

/** Kills a worker or drains it, kills the API, or Redis; each comes back. */
async function killSomething(): Promise<void> {
  killed += 1;
  if (killed % 8 === 3) {
    await api.kill();
    api = await fleet.start('api');
  } else if (killed % 8 === 7) {
    await fleet.redis.kill();
    await fleet.redis.restart();
  } else {
    const leaving = workers.shift();
    await leaving?.kill(killed % 4 === 2 ? 'SIGTERM' : 'SIGKILL');
    workers.push(await fleet.start('worker'));
  }
}

/** Those of a session, each once. */
const ofSession = (session: string, inputs: Iterable<string>): string[] => [
  ...new Set([...inputs].filter((input) => input.startsWith(`${session}-`))),
];

describe('mixed work while workers, the API and Redis are killed', () => {
  it('is done: nothing is lost, nothing doubled, and each session keeps its order', async () => {
    const sides = [
      repeatUntilStopped(sendTask, 200 * PAUSES),
      repeatUntilStopped(sendAwaited, 500 * PAUSES),
      repeatUntilStopped(sendBulk, 2500 * PAUSES),
      ...SESSIONS.map((session) => repeatUntilStopped(sendTurn(session), 1000 * PAUSES)),
    ];
    const kills = repeatUntilStopped(killSomething, KILL_EVERY_MS);
    await wait(LOAD_MS);
    await kills.stop();
    await Promise.all(sides.map((side) => side.stop()));
    const tasks = await fleet.client.ended([...accepted.values()], END_MS);
    reportFigure(
      'mixed work under kills',
      `${tasks.length} tasks, ${killed} kills, ${tasks.filter(({ attempt }) => attempt > 1).length} tried again`,
    );

    expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
    const journal = fleet.journal();
    const idsOf = Map.groupBy(journal, ({ input }) => input);
    const doubled = [...idsOf].filter(([input, runs]) => runs.some(({ task }) => task !== accepted.get(input)));
    expect(doubled).toEqual([]);
    expect(idsOf.size).toBe(accepted.size);
    expect(findOverlaps(journal)).toEqual([]);
    const begun = journal.flatMap(({ event, input }) => (event === 'start' ? [input] : []));
    for (const session of SESSIONS) expect(ofSession(session, begun)).toEqual(ofSession(session, accepted.keys()));
    expect(killed).toBeGreaterThan(0);
  });
});
