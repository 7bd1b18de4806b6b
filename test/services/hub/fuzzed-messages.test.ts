import {
  type Arbitrary,
  array,
  boolean,
  constant,
  constantFrom,
  dictionary,
  double,
  integer,
  json,
  jsonValue,
  oneof,
  record,
  sample,
  string,
  uint8Array,
} from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseDaemonMessage } from '#shared/daemons/protocol.ts';
import type { HubMessage } from '#shared/daemons/protocol.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { RawDaemon } from '../../support/daemons/raw-daemon.ts';
import { registerDaemon, startHub } from '../../support/daemons/start-hub.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { useParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Messages of one batch, and batches: 50,000 messages in all at full size. */
const BATCH = 250;
const BATCHES = testEnvironment.isChaos ? 200 : 20;

const parts = await useParts({
  agents: { echo: { kind: 'echo' }, coder: { kind: 'daemon', takesInput: true } },
  hub: { resendMs: 100, sweepMs: 200, messagesPerSecond: 1_000_000, graceMs: 600_000 },
});
const hub = await startHub(parts);
afterAll(() => hub.stop());

type Attempt = Pick<HubMessage<'task.execute'>, 'taskId' | 'token'>;

/** The attempt of another tenant, which goes on all the time, and its daemon. */
let honest: RawDaemon;
let theirs: Attempt;
/** The attempt of the tenant whose daemon sends anything. */
let own: Attempt;
let token: string;

const nameOf = ({ taskId, token: of }: Attempt): Attempt => ({ taskId, token: of });

beforeAll(async () => {
  const registered = await registerDaemon(parts, { tenant: 'acme' });
  honest = await RawDaemon.welcomed(hub.url, registered.token);
  await acceptTask(parts, { tenant: 'acme', agent: 'coder', input: 'their secret' });
  theirs = nameOf(await honest.accept());
  ({ token } = await registerDaemon(parts));
  const daemon = await RawDaemon.welcomed(hub.url, token, { slots: 1 });
  await acceptTask(parts, { tenant: 'default', agent: 'coder', input: 'own' });
  own = nameOf(await daemon.accept());
  daemon.vanish();
});

/** What is sent: text as it is, or a binary frame. */
type Frame = string | Uint8Array;

const TYPES = [
  'daemon.hello',
  'daemon.heartbeat',
  'task.accepted',
  'task.progress',
  'task.usage',
  'task.output',
  'task.completed',
  'task.failed',
];
const FIELDS = [
  'taskId',
  'token',
  'seq',
  'text',
  'protocol',
  'name',
  'slots',
  'load',
  'memoryMb',
  'note',
  'error',
  'usage',
  'running',
  '__proto__',
];

const attempt = (): Arbitrary<Attempt> =>
  oneof(
    constant(null).map(() => theirs),
    constant(null).map(() => own),
    record({ taskId: string({ minLength: 1, maxLength: 70 }), token: integer({ min: 0, max: 9 }) }),
  );
const failure = record({
  code: string({ maxLength: 70 }),
  message: string(),
  retryable: constantFrom(true, null),
  details: jsonValue(),
});

/** A report about some attempt that may well be read. */
const report = record({
  name: attempt(),
  type: constantFrom(...TYPES.slice(2)),
  fields: record({
    seq: integer({ min: -1, max: 2 ** 53 }),
    text: string({ unit: 'binary' }),
    note: string(),
    percent: double(),
    output: constantFrom('mine now', null, 7),
    result: jsonValue(),
    usage: constantFrom(
      null,
      { inputTokens: -1 },
      { costMicroUsd: 2 ** 60 },
      { inputTokens: 1, model: 'm' },
      { byModel: [{ model: 'constructor', inputTokens: 1 }, { model: '__proto__' }, { cachedInputTokens: 1e12 }] },
      { byModel: Array.from({ length: 60 }, () => ({ model: 'm' })) },
    ),
    error: failure,
  }),
})
  // An end of one's own attempt would leave nothing to aim at.
  .map(({ name: { taskId, token: of }, type, fields }) => Object.assign(fields, { type, taskId, token: of }))
  .filter(({ type, taskId }) => taskId !== own.taskId || !/completed|failed/.test(type));
const hello = record({
  type: constant('daemon.hello'),
  protocol: constantFrom(1, 1, 1, 0, 2, '1'),
  name: string({ maxLength: 210 }),
  slots: constantFrom(0, 1, 10_000, -1),
  capabilities: array(string({ maxLength: 210 }), { maxLength: 3 }),
  running: array(attempt(), { maxLength: 3 }),
  finished: array(attempt(), { maxLength: 3 }),
});
const anyFields = record({
  type: oneof(constantFrom(...TYPES, 'constructor', '__proto__', 'toString'), string()),
  fields: dictionary(constantFrom(...FIELDS), jsonValue()),
});
const heartbeat = record({
  type: constant('daemon.heartbeat'),
  load: double({ min: -1, max: 2 }),
  memoryMb: oneof(double(), constant(null)),
  isDraining: boolean(),
});

const frame: Arbitrary<Frame> = oneof(
  { weight: 8, arbitrary: report.map((message) => JSON.stringify(message)) },
  { weight: 4, arbitrary: anyFields.map(({ type, fields }) => JSON.stringify(Object.assign(fields, { type }))) },
  { weight: 3, arbitrary: heartbeat.map((message) => JSON.stringify(message)) },
  { weight: 2, arbitrary: json() },
  { weight: 2, arbitrary: string({ unit: 'binary' }) },
  { weight: 1, arbitrary: hello.map((message) => JSON.stringify(message)) },
  { weight: 1, arbitrary: uint8Array() },
);
const batch = record({
  /** Without a hello, every message comes before it. */
  greets: oneof({ weight: 9, arbitrary: constant(true) }, { weight: 1, arbitrary: constant(false) }),
  frames: array(frame, { minLength: BATCH, maxLength: BATCH, size: 'max' }),
});

/** Codes that a hub may close the connection of such a daemon with. */
const CLOSED = new Set([1008, 1012, 4409]);

const isLast = (message: HubMessage): boolean => message.type === 'error' && message.message.includes('the.last');

/** Sends a batch on a connection of its own. Returns what it got, and whether the hub ended it. */
async function send(greets: boolean, frames: readonly Frame[]): Promise<{ daemon: RawDaemon; isClosed: boolean }> {
  const daemon = await RawDaemon.connect(hub.url, token);
  if (greets) {
    daemon.hello({ agents: [], running: [own] });
    await daemon.next('hub.welcome');
  }
  for (const each of frames) daemon.socket.send(each);
  daemon.socket.send(JSON.stringify({ type: 'the.last' }));
  const what = 'an answer to the last message';
  await waitFor(() => daemon.closeCode !== null || daemon.received.some(isLast), { deadlineMs: 20_000, what });
  return { daemon, isClosed: daemon.closeCode !== null };
}

/** What is wrong with how the hub answered a batch, in words. */
function problemsOf(frames: readonly Frame[], { received, closeCode }: RawDaemon): string[] {
  const refused = frames.filter((each) => typeof each !== 'string' || !parseDaemonMessage(each).ok).length;
  const errors = received.filter(({ type }) => type === 'error').length;
  const isUnanswered = closeCode === null && errors <= refused;
  return [
    ...(isUnanswered ? [`${refused} messages cannot be read, and ${errors} errors came`] : []),
    ...(closeCode !== null && !CLOSED.has(closeCode) ? [`it was closed with ${closeCode}`] : []),
    ...(JSON.stringify(received).includes('their secret') ? ['it got what another tenant has'] : []),
    ...(honest.closeCode !== null ? [`another tenant's daemon was closed with ${honest.closeCode}`] : []),
    ...honest.received.map(({ type }) => `another tenant's daemon got ${type}`),
  ];
}

it(
  'thousands of fuzzed messages leave the hub up, get errors, and leave another tenant’s daemon untouched',
  { timeout: 300_000 },
  async () => {
    const seed = Date.now() % 2 ** 31;
    let cut = 0;
    for (let run = 0; run < BATCHES; run += 1) {
      const [given] = sample(batch, { seed: seed + run, numRuns: 1 });
      const { greets = true, frames = [] } = given ?? {};
      const { daemon, isClosed } = await send(greets, frames);
      expect({ seed: seed + run, sent: frames.length, problems: problemsOf(frames, daemon) }).toEqual({
        seed: seed + run,
        sent: BATCH,
        problems: [],
      });
      // Meanwhile the other tenant's daemon writes on.
      honest.send({ type: 'task.output', ...theirs, seq: run + 1, text: `${run} ` });
      if (isClosed) cut += 1;
      else daemon.vanish();
      await daemon.closed();
    }
    // A connection that is cut reads no more.
    expect(cut).toBeLessThan(BATCHES / 4);
    honest.send({ type: 'task.completed', ...theirs, result: 'theirs' });
    expect(await honest.next('task.acknowledged')).toMatchObject({ ...theirs, outcome: 'kept' });
    const written = Array.from({ length: BATCHES }, (_, run) => `${run} `).join('');
    expect(await readTask(parts.ledger, 'acme', theirs.taskId)).toMatchObject({
      output: written,
      result: 'theirs',
      state: { status: 'completed' },
      attempts: [{ status: 'success' }],
    });
  },
);
