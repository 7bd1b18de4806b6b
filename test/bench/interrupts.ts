import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { wait } from '#shared/time/wait.ts';
import type { ServiceProcess } from '../support/fleet/service-process.ts';
import { openFleet } from '../support/fleet/open-fleet.ts';
import { openTestParts } from '../support/open-test-parts.ts';
import { waitFor } from '../support/wait-for.ts';
import { monotonicMs } from './fixtures/monotonic-ms.ts';
import { print, printHeading } from './print.ts';
import { percentile } from './statistics.ts';
import { readSize } from './bench-options.ts';

// How fast a message that interrupts stops the agent that runs in another process.
const SAMPLES = readSize(1, 500);
/** Before them: code compiled, scripts loaded. */
const WARM = 30;
const PAUSE_MS = 10;
const SOON_MS = 10_000;
const GOAL_MS = 50;

const file = fileURLToPath(new URL('fixtures/hold-until-aborted.ts', import.meta.url));
const settings: SettingsInput = { agents: { hold: { kind: 'function', file } }, worker: settingsSchema.parse({}).worker };
const fleet = await openFleet({ settings });
await fleet.start('api');
const worker = await fleet.start('worker');
const parts = await openTestParts({ redisUrl: fleet.redis.url, settings });

/** Offers a message that interrupts what runs in the session; answers with its task. */
type Offer = (session: string) => Promise<string>;

const fromHere: Offer = async (session) => {
  const message = { tenant: 'default', agent: 'hold', input: 'x', session, mode: 'interrupt', source: 'chat' } as const;
  return (await acceptTask(parts, message)).id;
};
const overHttp: Offer = (session) => fleet.client.submit({ agent: 'hold', input: 'x', session, mode: 'interrupt' });

interface Sample {
  toAbort: number;
  toNextStart: number;
}

/** When the agent logged it for a task. Looks only at lines from `from` on. */
async function logged({ lines }: ServiceProcess, event: string, of: string, from: number): Promise<number> {
  const line = await waitFor(() => lines.slice(from).find((each) => each.event === event && each['of'] === of), {
    deadlineMs: SOON_MS,
    everyMs: 2,
    what: `${event} of ${of}`,
  });
  return Number(line['atMs']);
}

async function sample(offer: Offer): Promise<Sample[]> {
  const session = randomBytes(4).toString('hex');
  const all: Sample[] = [];
  let running = await offer(session);
  await logged(worker, 'bench.started', running, 0);
  for (let index = 0; index < WARM + SAMPLES; index += 1) {
    await wait(PAUSE_MS);
    const from = worker.lines.length;
    const offeredAt = monotonicMs();
    const next = await offer(session);
    const abortedAt = await logged(worker, 'bench.aborted', running, from);
    const startedAt = await logged(worker, 'bench.started', next, from);
    all.push({ toAbort: abortedAt - offeredAt, toNextStart: startedAt - offeredAt });
    running = next;
  }
  return all.slice(WARM);
}

function row(name: string, values: readonly number[], goal = ''): void {
  const cells = [0.5, 0.99, 1].map((share) => percentile(values, share).toFixed(1).padStart(9)).join('');
  print(`${name.padEnd(58)}${cells}${goal}`);
}

try {
  await printHeading(fleet.redis.url, 'Interrupts', [
    'A session has an agent running in a worker process. A message that interrupts it is offered: by this process, with a call',
    'of acceptTask, or over HTTP to an API process. The offers come one at a time, nothing else runs; all on loopback.',
  ]);
  const ours = await sample(fromHere);
  const http = await sample(overHttp);
  print(`\n${`ms, of ${SAMPLES} each`.padEnd(58)}      p50      p99      max   goal`);
  row(
    'offer in one process to abort in another',
    ours.map(({ toAbort }) => toAbort),
    `   p99 < ${GOAL_MS}`,
  );
  row(
    'offer to the start of the agent for the new message',
    ours.map(({ toNextStart }) => toNextStart),
  );
  row(
    'HTTP request to abort, over two processes',
    http.map(({ toAbort }) => toAbort),
  );
  row(
    'HTTP request to the start for the new message',
    http.map(({ toNextStart }) => toNextStart),
  );
} finally {
  await parts.close();
  await fleet.stop();
}
