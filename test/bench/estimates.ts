import type { AgentFunction } from '#shared/config/define-config.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { wait } from '#shared/time/wait.ts';
import { createWorkerService } from '../../services/worker/create-worker-service.ts';
import { openTestParts } from '../support/open-test-parts.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { print, printHeading } from './print.ts';
import { median } from './statistics.ts';
import { readSize } from './bench-options.ts';

// How near `estimatedStartMs` of `why` is to the real start, under a mixed load.
const ROUNDS = readSize(1, 2);
const SLOTS = 16;
/** Tasks that arrive at once in each round, and then for as long as most of them wait. */
const BURST = 300;
const ARRIVALS = 60;
const ARRIVAL_MS = 100;
const SAMPLE_MS = 20;
/** Tasks that are looked at together. */
const TOGETHER = 8;
/** Both below this count as equal: the clock of one poll. */
const FLOOR_MS = 150;
const FACTOR = 2;

/** Short and long attempts, each of its own length: by half shorter or longer than the agent's usual. */
const working =
  (usualMs: number): AgentFunction =>
  async (_task, { signal }) => {
    await wait(usualMs * (0.5 + Math.random()), signal);
    return 'done';
  };

const NONE = { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} };
const agents = { short: 80, usual: 250, long: 900 } as const;
type Agent = keyof typeof agents;

const server = await startRedis({});
const parts = await openTestParts({
  redisUrl: server.url,
  settings: {
    agents: Object.fromEntries(Object.entries(agents).map(([id, ms]) => [id, { kind: 'function' as const, run: working(ms) }])),
    limits: { tenants: { flood: NONE, heavy: { ...NONE, weight: 2 }, small: NONE, capped: { ...NONE, running: 3 } } },
    metrics: { flushMs: 250 },
  },
  env: { MUSTER_QUEUES: `critical=2,chat=4,tasks=8,background=2` },
});
const worker = createWorkerService(parts);

interface Kind extends Partial<AcceptRequest> {
  tenant: string;
  agent: Agent;
  /** Of all tasks, how many are of this kind. */
  share: number;
}

const KINDS: readonly Kind[] = [
  { tenant: 'flood', agent: 'usual', share: 30 },
  { tenant: 'flood', agent: 'long', share: 8 },
  { tenant: 'heavy', agent: 'usual', share: 20 },
  { tenant: 'small', agent: 'short', share: 8 },
  { tenant: 'small', agent: 'usual', priority: 8, share: 4 },
  { tenant: 'flood', agent: 'short', source: 'chat', share: 12 },
  { tenant: 'capped', agent: 'usual', share: 8 },
  { tenant: 'heavy', agent: 'usual', session: 'talk', share: 6 },
  { tenant: 'flood', agent: 'usual', priority: 'low', share: 6 },
  { tenant: 'small', agent: 'short', priority: 'critical', share: 1 },
];
const ALL = KINDS.reduce((sum, { share }) => sum + share, 0);

function drawKind(): Kind {
  let left = Math.random() * ALL;
  return KINDS.find(({ share }) => (left -= share) < 0) ?? (KINDS[0] as Kind);
}

interface Waiting {
  tenant: string;
  id: string;
}

async function send(): Promise<Waiting> {
  const { share: _share, session, ...kind } = drawKind();
  const own = session === undefined ? {} : { session: `${session} ${Math.floor(Math.random() * 3)}` };
  const { id } = await acceptTask(parts, { ...kind, ...own, input: 'x' });
  return { tenant: kind.tenant, id };
}

interface Sample {
  task: Waiting;
  gate: string;
  estimateMs: number | null;
  at: number;
}

async function stateOf({ tenant, id }: Waiting): Promise<TaskState | undefined> {
  return (await readTask(parts.ledger, tenant, id))?.state;
}

async function sample(task: Waiting): Promise<Sample[]> {
  const found = await readTask(parts.ledger, task.tenant, task.id);
  if (!found) return [];
  const { reasons, estimatedStartMs } = await explainWait(parts, found);
  return reasons[0] ? [{ task, gate: reasons[0].gate, estimateMs: estimatedStartMs, at: Date.now() }] : [];
}

/** A burst, arrivals behind it, and samples of what waits until nothing does. */
async function round(): Promise<Sample[]> {
  const samples: Sample[] = [];
  const sent = await Promise.all(Array.from({ length: BURST }, send));
  let arrivals = 0;
  let arrivedAt = Date.now();
  for (;;) {
    if (arrivals < ARRIVALS && Date.now() - arrivedAt >= ARRIVAL_MS) {
      arrivedAt = Date.now();
      arrivals += 1;
      sent.push(await send());
    }
    const waiting = sent.filter(({ id }) => !started.has(id));
    if (waiting.length === 0) break;
    const drawn = Array.from({ length: TOGETHER }, () => waiting[Math.floor(Math.random() * waiting.length)] ?? waiting[0]);
    samples.push(...(await Promise.all(drawn.map(sampleUnlessStarted))).flat());
    await wait(SAMPLE_MS);
  }
  return samples;
}

const started = new Set<string>();

async function sampleUnlessStarted(task: Waiting | undefined): Promise<Sample[]> {
  const state = task && (await stateOf(task));
  if (!task || state?.startedAt === undefined) return task ? await sample(task) : [];
  started.add(task.id);
  return [];
}

/** How near a sample was: estimate and real wait in ms. */
async function outcomeOf({ task, gate, estimateMs, at }: Sample): Promise<{ gate: string; estimateMs: number | null; realMs: number }> {
  const startedAt = (await stateOf(task))?.startedAt ?? at;
  return { gate, estimateMs, realMs: Math.max(0, startedAt - at) };
}

try {
  await printHeading(server.url, 'Estimated starts', [
    `A mixed load on ${SLOTS} slots: four tenants with weights and a cap, chats, sessions, critical and low tasks, attempts of 40 to 1350 ms.`,
    `${ROUNDS} bursts of ${BURST} tasks with ${ARRIVALS} more behind each. Ratio: estimate of the real wait; both below ${FLOOR_MS} ms are equal.`,
  ]);
  await worker.start();
  await round(); // Warm: times are measured.
  const samples: Sample[] = [];
  for (let count = 0; count < ROUNDS; count += 1) samples.push(...(await round()));
  const outcomes = await Promise.all(samples.map(outcomeOf));
  print('\ngate       samples   unknown   median ratio   within factor 2');
  const byGate = Map.groupBy(outcomes, ({ gate }) => gate);
  for (const [gate, own] of [...byGate, ['all', outcomes] as const]) print(row(gate, own));
} finally {
  await worker.stop(10_000);
  await parts.close();
  await server.stop();
}

function row(gate: string, outcomes: readonly { estimateMs: number | null; realMs: number }[]): string {
  const ratios = outcomes.flatMap(({ estimateMs, realMs }) =>
    estimateMs === null ? [] : [Math.max(FLOOR_MS, estimateMs) / Math.max(FLOOR_MS, realMs)],
  );
  const near = ratios.filter((ratio) => ratio <= FACTOR && ratio >= 1 / FACTOR).length;
  const figures = [
    `${outcomes.length}`,
    `${outcomes.length - ratios.length}`,
    median(ratios).toFixed(2),
    `${((100 * near) / ratios.length).toFixed(0)} %`,
  ];
  return `${gate.padEnd(8)}${figures.map((figure, at) => figure.padStart([10, 10, 15, 18][at] ?? 10)).join('')}`;
}
