import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { findOverlaps } from '../../support/fleet/journal.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import type { ServiceName, ServiceProcess } from '../../support/fleet/service-process.ts';
import { releaseFolder } from '../fixtures/release-folder.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const BEFORE = releaseFolder('0.2.0');
/** Each of the phases: one release alone, both, and both after a kill. */
const PHASE_MS = testEnvironment.isChaos ? 60_000 : 2500;
const EVENT_AGENT = fileURLToPath(import.meta.resolve('../../support/agents/event-agent.ts'));
const SESSIONS = ['ada', 'ben', 'cleo'];
const END_MS = 60_000;

type Release = 'before' | 'this';

let fleet: Fleet;
let started: { release: Release; process: ServiceProcess }[];
/** The living APIs, which take the load in turn. */
let apis: { release: Release; process: ServiceProcess }[];
/** The id of each accepted request, by its input. */
let accepted: Map<string, string>;
/** Runs that wait for an event, without a slot. Only this release has them. */
let suspended: string[];
let count: number;

afterEach(async () => {
  await fleet.stop();
});

async function open(): Promise<void> {
  [started, apis, accepted, suspended, count] = [[], [], new Map(), [], 0];
  fleet = await openFleet({ env: { SHUTDOWN_GRACE_MS: '3000' } });
  const waiting = { kind: 'function', file: EVENT_AGENT, holdLane: '1s', version: '1' };
  // As a deploy brings it: the agent that waits comes with the release that can.
  const text = `import base from './muster.config.mjs';\nexport default { ...base, agents: { ...base.agents, waiting: ${JSON.stringify(waiting)} } };\n`;
  await writeFile(join(fleet.directory, 'newer.config.mjs'), text);
}

async function start(release: Release, service: ServiceName): Promise<ServiceProcess> {
  const env: Record<string, string> = release === 'this' ? { MUSTER_CONFIG: join(fleet.directory, 'newer.config.mjs') } : {};
  const process = await fleet.start(service, env, release === 'before' ? BEFORE : undefined);
  started.push({ release, process });
  if (service === 'api') apis.push({ release, process });
  return process;
}

/** Starts the services of a release, the API first. */
async function startRelease(release: Release, workers: number): Promise<ServiceProcess[]> {
  const api = await start(release, 'api');
  const services: ServiceName[] = ['scheduler', ...Array.from({ length: workers }, (): ServiceName => 'worker')];
  return [api, ...(await Promise.all(services.map((service) => start(release, service))))];
}

/** Sends it under its key until it is accepted, as a client does whose answers may get lost. Returns the id. */
async function send(path: string, key: string, body: object, from: Release | null = null): Promise<string> {
  const urls = apis.filter(({ release }) => from === null || release === from).map(({ process }) => process.url);
  const url = urls[count % urls.length] ?? '';
  const once = async () => await fleet.client.call('POST', path, { url, headers: { 'idempotency-key': key }, body }).catch(() => null);
  const answered = async () => [await once()].find((found) => found !== null && found.status < 500);
  const answer = await waitFor(answered, { deadlineMs: 30_000, everyMs: 200, what: `${path} to be answered` });
  if (answer.status >= 300) throw new Error(`${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return String(answer.body.id);
}

const newInput = (kind: string): string => {
  count += 1;
  return `${kind}-${count}`;
};

async function sendTask(): Promise<void> {
  const input = newInput('task');
  const later = count % 5 === 0 ? { scheduledFor: new Date(Date.now() + 2000).toISOString() } : {};
  const context = { workMs: [50 + (count % 5) * 100], failRuns: count % 7 === 0 ? 1 : 0 };
  const execution = { retryDelayMs: 200, maxAttempts: 5 };
  accepted.set(input, await send('/v1/tasks', input, { agent: 'work', input, priority: 1 + (count % 10), context, execution, ...later }));
}

const sendTurn = (session: string) => async (): Promise<void> => {
  const input = newInput(session);
  accepted.set(input, await send(`/v1/sessions/${session}/messages`, input, { text: input, agent: 'work', context: { workMs: [100] } }));
};

/** In a session, which it gives up after a second: until then it waits for a time as well. */
async function sendWaiting(): Promise<void> {
  if (!apis.some(({ release }) => release === 'this')) return;
  const input = newInput('waiting');
  const body = { agent: 'waiting', input, session: input, mode: 'queue', context: { name: 'go' } };
  suspended.push(await send('/v1/tasks', input, body, 'this'));
}

function load(): { stop: () => Promise<void> } {
  const sides = [
    repeatUntilStopped(sendTask, 200),
    ...SESSIONS.map((session) => repeatUntilStopped(sendTurn(session), 700)),
    repeatUntilStopped(sendWaiting, 500),
  ];
  return {
    stop: async () => {
      await Promise.all(sides.map((side) => side.stop()));
    },
  };
}

/** Those of a session, each once. */
const ofSession = (session: string, inputs: Iterable<string>): string[] => [
  ...new Set([...inputs].filter((input) => input.startsWith(`${session}-`))),
];

/** Runs `from` under load, then `to` beside it with a worker of each killed, then `to` alone. Returns the schedule that ran meanwhile. */
async function replace(from: Release, to: Release): Promise<string> {
  const [api, scheduler, killed, worker] = (await startRelease(from, 2)) as [
    ServiceProcess,
    ServiceProcess,
    ServiceProcess,
    ServiceProcess,
  ];
  const { id } = await fleet.client.make('/v1/schedules', { cron: '* * * * * *', agent: 'echo', message: 'tick', name: 'tick' });
  const { stop } = load();
  await wait(PHASE_MS);
  const [, , , lost] = await startRelease(to, 2);
  await wait(PHASE_MS);
  expect(await upgradeRow()).toMatch(
    /no data is migrated, .*\d \(0\.2\.0\).* of an earlier release may run beside it.*suspended: \d+ of waiting@1/,
  );
  await killed.kill();
  await wait(PHASE_MS);
  await lost?.kill();
  await wait(PHASE_MS);
  apis = apis.filter(({ process }) => process !== api);
  for (const each of [worker, scheduler, api]) await each.kill('SIGTERM');
  const exits = await Promise.all([worker, scheduler, api].map((each) => each.exited));
  expect(exits).toEqual(exits.map(() => ({ code: 0, signal: null })));
  await wait(PHASE_MS);
  await stop();
  return String(id);
}

async function expectAllDone(schedule: string): Promise<void> {
  const tasks = await fleet.client.ended([...accepted.values()], END_MS);
  expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
  const journal = fleet.journal();
  const idsOf = Map.groupBy(journal, ({ input }) => input);
  expect([...idsOf].filter(([input, runs]) => runs.some(({ task }) => task !== accepted.get(input)))).toEqual([]);
  expect(idsOf.size).toBe(accepted.size);
  expect(findOverlaps(journal)).toEqual([]);
  const begun = journal.flatMap(({ event, input }) => (event === 'start' ? [input] : []));
  for (const session of SESSIONS) expect(ofSession(session, begun)).toEqual(ofSession(session, accepted.keys()));
  const runs = (await fleet.client.call('GET', `/v1/schedules/${schedule}/runs?limit=200`)).body.items as { occurrence: string }[];
  const times = runs.map(({ occurrence }) => Date.parse(occurrence)).toReversed();
  expect(times.length).toBeGreaterThan(3);
  expect(times).toEqual(times.map((_, at) => (times[0] ?? 0) + at * 1000));
}

/** What the doctor says of both. */
async function upgradeRow(): Promise<string> {
  const { url } = apis.find(({ release }) => release === 'this')?.process ?? { url: '' };
  const { items } = (await fleet.client.call('GET', '/v1/checks', { url })).body as { items: { name: string; detail: string }[] };
  return items.find(({ name }) => name === 'Upgrade')?.detail ?? '';
}

/** Resumes the runs that wait, which have lost nothing beside the release before. */
async function expectResumed(): Promise<void> {
  expect(suspended.length).toBeGreaterThan(2);
  const { body } = await fleet.client.call('POST', '/v1/events', { body: { name: 'go', data: {} } });
  expect(body).toEqual({ resumed: suspended.length });
  const runs = await fleet.client.ended(suspended, END_MS);
  expect(runs.filter(({ status }) => status !== 'completed')).toEqual([]);
}

/** What processes of both logged as errors. */
function errorsFound(): unknown[] {
  return started.flatMap(({ release, process }) =>
    process.lines.filter(({ level }) => ['error', 'fatal'].includes(String(level))).map((line) => ({ release, line })),
  );
}

const report = (what: string): void =>
  reportFigure(what, `${accepted.size} tasks, ${suspended.length} runs that waited, a worker of each killed`);

describe('release 0.2.0 and this one, side by side under load', () => {
  it('an upgrade loses nothing, doubles nothing and keeps the order of sessions', async () => {
    await open();
    const schedule = await replace('before', 'this');
    await expectAllDone(schedule);
    await expectResumed();
    expect(errorsFound()).toEqual([]);
    report('upgrade from 0.2.0');
  });

  it('a rollback does neither, and leaves runs that wait to the release that comes back', async () => {
    await open();
    const schedule = await replace('this', 'before');
    await expectAllDone(schedule);
    await startRelease('this', 1);
    await expectResumed();
    expect(errorsFound()).toEqual([]);
    report('rollback to 0.2.0');
  });
});
