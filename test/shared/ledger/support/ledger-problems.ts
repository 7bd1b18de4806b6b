import type { TenantLimits } from '#shared/config/settings/limits-settings.ts';
import { CLASS_LETTERS } from '#shared/tasks/priority.ts';
import { parseOutboxEntry } from '#shared/ledger/grants/outbox.ts';
import { endLookup } from '#shared/ledger/read/lookups.ts';
import { readTasks } from '#shared/ledger/read/read-tasks.ts';
import type { OutcomeKind, Task } from '#shared/tasks/task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { hasAttempt, isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { backlogPlace, standingText } from '#shared/ledger/grants/standing.ts';
import { levelName } from '#shared/ledger/grants/tickets.ts';
import type { Gated } from '#shared/ledger/order/gated-task.ts';
import { Gates } from '#shared/ledger/order/gates.ts';
import { TENANT, type TestLedger } from './test-ledger.ts';

/** Whether it waits in the line of its lane. */
const isInLine = ({ gate }: TaskState): boolean => gate === 'lane' || gate === 'steer';

interface Lane {
  held: string[];
  wait: string[];
}

/** All that Redis holds of one tenant, and its tasks as readers see them. */
interface LedgerData {
  tasks: Map<string, Task>;
  live: Task[];
  lookups: string[];
  index: string[];
  /** Whose state is kept. */
  kept: string[];
  leases: string[];
  signals: string[];
  deadlines: string[];
  due: string[];
  ended: string[];
  /** `<task>.<number>` of every ticket that is in the outbox or in a queue. */
  tickets: Set<string>;
  lanes: Map<string, Lane>;
  /** Tickets that wait for their turn, as text. */
  ready: string[];
  /** Tasks with a job in BullMQ that no worker has drawn. */
  jobs: string[];
  limits: TenantLimits | null;
}

/**
 * What is inconsistent in the tenant's data, in words: nothing may be, after any step whatever. `delivered` are the tickets
 * (`<task>.<number>`) that left the outbox and are on their way to a worker.
 */
export async function ledgerProblems(test: TestLedger, delivered: Iterable<string> = []): Promise<string[]> {
  const data = await readData(test, delivered);
  return [listed, leases, lanes, sharedLanes, caps, stuck, readyTickets, jobs, endings, outcomes, notified].flatMap((check) => check(data));
}

async function readData(test: TestLedger, delivered: Iterable<string>): Promise<LedgerData> {
  const { redis, keys, ledger, limits } = test;
  const tenant = keys.tenant(TENANT);
  const shard = keys.shard(keys.shardOf(TENANT));
  const ids = await redis.hkeys(tenant.bodies);
  const found = await readTasks(ledger, TENANT, ids);
  const tasks = new Map(found.map((task, position) => [ids[position] ?? '', task as Task]));
  const entries = await redis.zrange(shard.outbox, '0', '-1');
  const outbox = entries.flatMap((entry) => parseOutboxEntry(entry).tickets.map(({ task, number }) => `${task}.${number}`));
  return {
    tasks,
    live: [...tasks.values()].filter((task) => task !== null && !isTerminal(task.state.status)),
    lookups: await redis.zrange(tenant.live, '0', '-1'),
    index: await redis.zrange(tenant.index, '0', '-1'),
    kept: await redis.hkeys(tenant.states),
    leases: await redis.zrange(shard.leases, '0', '-1'),
    signals: await redis.hkeys(shard.signals),
    deadlines: await redis.zrange(shard.deadlines, '0', '-1'),
    due: await redis.zrange(shard.due, '0', '-1'),
    ended: await redis.zrange(shard.ended, '0', '-1'),
    tickets: new Set([...outbox, ...delivered]),
    lanes: await readLanes(test),
    ready: (await redis.zrange(shard.ready, '0', '-1')).filter((text) => text.split('/')[2] === TENANT),
    jobs: await redis.zrange(shard.jobs, '0', '-1'),
    limits,
  };
}

async function readLanes({ redis, keys }: TestLedger): Promise<Map<string, Lane>> {
  const tenant = keys.tenant(TENANT);
  const all = new Map<string, Lane>();
  const found = await redis.keys(tenant.laneHeld('*').replace(':held', ':*'));
  for (const key of found) {
    const name = key.slice(tenant.laneHeld('').indexOf(':held')).replace(/:(held|wait)$/, '');
    all.set(name, {
      held: await redis.zrange(tenant.laneHeld(name), '0', '-1'),
      wait: await redis.zrange(tenant.laneWait(name), '0', '-1'),
    });
  }
  return all;
}

const difference = (what: string, found: readonly string[], expected: readonly string[]): string[] => [
  ...found.filter((each) => !expected.includes(each)).map((each) => `${what}: ${each} is there and should not be`),
  ...expected.filter((each) => !found.includes(each)).map((each) => `${what}: ${each} is missing`),
];

const backlogOf = ({ body, state }: Task): string =>
  `backlog=${state.class}/${String(10 - state.priority).padStart(2, '0')}/${backlogPlace(state, body.id)}`;

const holdOf = (task: Task): string => {
  const { gate, what } = task.state.hold ?? { gate: 'budget', what: '' };
  return `hold=${gate}:${what.replaceAll('%', '%25').replaceAll('/', '%2F')}/${backlogOf(task).split('/').slice(1).join('/')}`;
};

/** The live lookups say of each task that has not ended where it is, once, and of no other. */
function listed({ live, lookups, kept, tasks }: LedgerData): string[] {
  const expected = live.map(({ body, state }) => (state.granted ? `granted=${state.class}/${body.id}` : `${state.status}/${body.id}`));
  expected.push(...live.filter(({ state }) => state.gate === 'cap').map(backlogOf));
  expected.push(...live.filter(({ state }) => state.hold).map(holdOf));
  const lost = [...tasks].filter(([, task]) => task === null).map(([id]) => `${id} has a record that nobody can read`);
  const own = lookups.filter((member) => !/^(holds|waits|passed)=/.test(member));
  return [...difference('lookups', own, expected), ...lost, ...difference('kept', kept, [...tasks.keys()])];
}

const leaseOf = ({ body, state }: Task): string => `${TENANT}/${body.id}/${state.token}`;

/** What runs has one lease under its token, and nothing else has one. */
function leases({ live, leases: found, signals }: LedgerData): string[] {
  const running = live.filter(({ state }) => hasAttempt(state.status));
  const stopping = running.filter(({ state }) => state.cancel).map(leaseOf);
  const preempted = running.filter(({ state }) => state.preempt?.token === state.token).map((task) => `${leaseOf(task)}/preempt`);
  return [...difference('leases', found, running.map(leaseOf)), ...difference('signals', signals, [...stopping, ...preempted])];
}

/** A lane holds at most its limit, only what is alive, and lets nobody wait while it has room. */
function lanes({ live, lanes: found }: LedgerData): string[] {
  return [...found].flatMap(([name, lane]) =>
    laneProblems(
      name,
      lane,
      live.filter(({ state }) => state.lane === name),
    ),
  );
}

function laneProblems(name: string, { held, wait }: Lane, members: Task[]): string[] {
  const limit = members[0]?.state.laneLimit ?? 0;
  const ids = new Set(members.map(({ body }) => body.id));
  const running = members.filter(({ state }) => hasAttempt(state.status)).map(({ body }) => body.id);
  // What holds it and waits all the same waits for lanes that it shares.
  const waiting = members.filter(({ body, state }) => isInLine(state) && !held.includes(body.id)).map(({ body }) => body.id);
  // What was offered to one that runs waits for that one, whatever room others leave.
  const free = members.filter(({ body, state }) => wait.includes(body.id) && !held.includes(state.steer ?? ''));
  return [
    ...(held.length > limit ? [`lane ${name}: ${held.length} hold it, of at most ${limit}`] : []),
    ...(free.length > 0 && held.length < limit ? [`lane ${name}: ${free.length} wait while it has room`] : []),
    ...[...held, ...wait].filter((id) => !ids.has(id)).map((id) => `lane ${name}: ${id} is in it and not alive`),
    ...running.filter((id) => !held.includes(id)).map((id) => `lane ${name}: ${id} runs without holding it`),
    ...difference(`line of lane ${name}`, wait, waiting),
    ...outOfOrder(name, wait, members),
  ];
}

/** A task holds all of the lanes that it shares while it may run, and none while it waits; then it stands in one line, unless it could go on. */
function sharedLanes({ live, lookups, limits }: LedgerData): string[] {
  const inLanes = lookups.filter((member) => /^(holds|waits|passed)=/.test(member));
  const expected = live.flatMap(({ body: { id }, state: { granted, sharedLanes: wanted = [] } }) =>
    granted ? wanted.map(({ name }) => `holds=${name}/${id}`) : [],
  );
  const held = inLanes.filter((member) => member.startsWith('holds='));
  const passed = live.flatMap(({ body: { id }, state }) => (state.passed === undefined ? [] : [passedOf(id, state)]));
  return [
    ...difference('shared lanes', held, expected),
    ...difference(
      'passed',
      inLanes.filter((member) => member.startsWith('passed=')),
      passed,
    ),
    ...overfull(held, live, limits),
    ...inLanes
      .filter((member) => !live.some(({ body }) => member.endsWith(`/${body.id}`)))
      .map((member) => `${member} is of nothing alive`),
    ...modelOf(live, lookups, limits)
      .idle()
      .map((id) => `${id} waits, and none of its gates is closed`),
  ];
}

const passedOf = (id: string, { queue, passed = 0 }: TaskState): string =>
  `passed=${queue === 'critical' ? '!' : ''}${String(passed).padStart(15, '0')}/${id}`;

function limitsOfLanes(live: readonly Task[], limits: TenantLimits | null): Record<string, number> {
  const own = live.flatMap(({ state }) => state.sharedLanes ?? []).map(({ name, limit }) => [name, limit] as const);
  const ofAgents = Object.entries(limits?.runningByAgent ?? {}).map(([agent, max]) => [`agent:${agent}`, max] as const);
  return Object.fromEntries([...own, ...ofAgents]);
}

/** What a test lowers may be above it. */
function overfull(held: readonly string[], live: readonly Task[], limits: TenantLimits | null): string[] {
  return Object.entries(limitsOfLanes(live, limits)).flatMap(([name, limit]) => {
    const count = held.filter((member) => member.startsWith(`holds=${name}/`)).length;
    return count > limit && limits?.runningByAgent[name.replace('agent:', '')] === undefined
      ? [`shared lane ${name}: ${count} hold it, of at most ${limit}`]
      : [];
  });
}

/** The tasks as the specification of gates knows them. */
function modelOf(live: readonly Task[], lookups: readonly string[], limits: TenantLimits | null): Gates {
  const byLetter = Object.entries(limits?.runningByClass ?? {}).map(([name, cap]) => [
    CLASS_LETTERS[name as keyof typeof CLASS_LETTERS],
    cap,
  ]);
  const own = {
    lanes: limitsOfLanes(live, limits),
    running: limits?.running ?? null,
    low: limits?.runningLow ?? null,
    byLetter: Object.fromEntries(byLetter) as Record<string, number>,
  };
  const gates = new Gates(own, () => undefined);
  for (const task of live) put(gates, task, lookups);
  return gates;
}

function put(gates: Gates, { body: { id }, state }: Task, lookups: readonly string[]): void {
  const { createdAt, priority, queue, class: taskClass, sharedLanes: wanted = [], passed = null } = state;
  const lanesOfIt = wanted.map(({ name }) => name);
  const kind = { priority, isCritical: queue === 'critical', class: taskClass };
  const task = { id, createdAt, from: createdAt, ...kind, session: null, lanes: lanesOfIt };
  gates.put(task, standingOf(id, state, lookups), passed);
}

function standingOf(id: string, { granted, gate }: TaskState, lookups: readonly string[]): Gated['at'] {
  if (granted) return { kind: 'granted' };
  if (gate === 'cap') return { kind: 'cap', name: 'running' };
  const line = lookups.find((member) => member.startsWith('waits=') && member.endsWith(`/${id}`));
  return line === undefined ? { kind: 'away' } : { kind: 'lane', name: /^waits=([^/]+)/.exec(line)?.[1] ?? '' };
}

/** Those with a number stand by number, the others by arrival. */
function outOfOrder(name: string, wait: readonly string[], members: readonly Task[]): string[] {
  const inLine = wait.flatMap((id) => members.filter(({ body }) => body.id === id));
  const numbers = inLine.filter(({ state }) => state.order !== undefined).map(({ state }) => Number(state.order));
  const arrivals = inLine.filter(({ state }) => state.order === undefined).map(({ state }) => state.createdAt);
  return [
    ...(isAscending(numbers) ? [] : [`lane ${name}: the numbers of its line are ${numbers.join(', ')}`]),
    ...(isAscending(arrivals) ? [] : [`lane ${name}: its line is not by arrival: ${arrivals.join(', ')}`]),
  ];
}

const isAscending = (values: readonly number[]): boolean => values.every((value, at) => at === 0 || (values[at - 1] ?? 0) <= value);

/** No cap is exceeded, and nobody waits for one that has room. */
function caps({ live, limits }: LedgerData): string[] {
  if (!limits) return [];
  const granted = live.filter(({ state }) => state.granted).map(({ state }) => state.class);
  const isFull = (taskClass: string): boolean => {
    const ofClass = limits.runningByClass[nameOf(taskClass)];
    const low = granted.filter((each) => each.endsWith('0')).length;
    return (
      (limits.running !== null && granted.length >= limits.running) ||
      (ofClass !== undefined && granted.filter((each) => each[0] === taskClass[0]).length >= ofClass) ||
      (limits.runningLow !== null && taskClass.endsWith('0') && low >= limits.runningLow)
    );
  };
  const over = [
    ...(limits.running !== null && granted.length > limits.running ? [`caps: ${granted.length} granted`] : []),
    ...(limits.runningLow !== null && granted.filter((each) => each.endsWith('0')).length > limits.runningLow
      ? ['caps: too many low']
      : []),
    ...Object.entries(limits.runningByClass)
      .filter(([name, cap]) => granted.filter((each) => nameOf(each) === name).length > cap)
      .map(([name]) => `caps: too many ${name}`),
  ];
  const idle = live.filter(({ state }) => state.gate === 'cap' && !isFull(state.class));
  return [...over, ...idle.map(({ body }) => `caps: ${body.id} waits for one that has room`)];
}

function nameOf(taskClass: string): keyof typeof CLASS_LETTERS {
  const found = Object.entries(CLASS_LETTERS).find(([, letter]) => letter === taskClass[0]);
  return (found?.[0] ?? 'user') as keyof typeof CLASS_LETTERS;
}

/** Whatever has not ended runs, has a ticket on its way, or stands in a line that moves. */
function stuck({ live, tickets, lanes: found, due, lookups, ready }: LedgerData): string[] {
  const waiting = live.filter(({ state }) => state.notBefore !== undefined).map(({ body }) => `${TENANT}/${body.id}`);
  const underway = new Set([...tickets, ...ready.map((text) => text.split('/')[4])]);
  const problems = live
    .filter(({ state }) => !hasAttempt(state.status) && state.notBefore === undefined && state.hold === undefined)
    .flatMap(({ body: { id }, state }) => {
      if (state.granted) return underway.has(`${id}.${state.ticket}`) ? [] : [`${id} needs ticket ${state.ticket}`];
      if (state.gate === 'cap') return [];
      const isInSharedLine = lookups.some((member) => member.startsWith('waits=') && member.endsWith(`/${id}`));
      if (isInLine(state))
        return isInSharedLine || found.get(state.lane ?? '')?.wait.includes(id) ? [] : [`${id} waits for its lane and is not in its line`];
      return [`${id} (${state.status}) is nowhere`];
    });
  return [...problems, ...difference('due', due, waiting)];
}

const isUnclaimed = ({ state }: Task): boolean => state.granted === true && !hasAttempt(state.status) && state.notBefore === undefined;

function prefixOf({ body, state }: Task): string {
  return `${levelName(state.queue, state.priority)}${TENANT}/${standingText(state)}/${body.id}.${state.ticket}/`;
}

/** What is ready is the newest ticket of a granted task, once, and each such task stands there or is looked at. */
function readyTickets({ live, ready, tickets }: LedgerData): string[] {
  const waiting = live.filter((task) => isUnclaimed(task));
  const expected = waiting.map(prefixOf);
  return [
    ...ready.flatMap((text) => (expected.some((each) => text.startsWith(each)) ? [] : [`ready: ${text} is of no task that waits for it`])),
    ...waiting
      .filter((task) => !ready.some((text) => text.startsWith(prefixOf(task))) && !tickets.has(`${task.body.id}.${task.state.ticket}`))
      .map(({ body }) => `ready: ${body.id} may run and does not stand there`),
  ];
}

/** What has a job in BullMQ is granted and not claimed. */
function jobs({ live, jobs: found }: LedgerData): string[] {
  const waiting = new Set(live.filter((task) => isUnclaimed(task)).map(({ body }) => `${TENANT}/${body.id}`));
  const own = found.filter((member) => member.startsWith(`${TENANT}/`));
  return own.filter((member) => !waiting.has(member)).map((member) => `jobs: ${member} waits for no worker`);
}

/** A task that ended is in the lasting lookups under one end, and in nothing that is alive. */
function endings({ tasks, index, deadlines, lanes: found }: LedgerData): string[] {
  const all = [...tasks.values()].filter((task) => task !== null);
  const ended = all.filter(({ state }) => isTerminal(state.status));
  const inLanes = new Set([...found.values()].flatMap(({ held, wait }) => held.concat(wait)));
  return [
    ...difference(
      'ends',
      index.filter((member) => member.startsWith('status=')),
      ended.map(({ body, state }) => `status=${state.status}/${body.id}`),
    ),
    ...difference(
      'ends with agent, source and code',
      index.filter((member) => member.startsWith('end=')),
      ended.map(({ body, state }) => `${endLookup(state.status, state)}/${body.id}`),
    ),
    ...all.filter(({ body }) => !index.includes(`source=${body.source}/${body.id}`)).map(({ body }) => `${body.id} is not in the index`),
    ...ended.filter(({ body }) => deadlines.includes(`${TENANT}/${body.id}`)).map(({ body }) => `${body.id} ended and has a deadline`),
    ...ended.filter(({ body }) => inLanes.has(body.id)).map(({ body }) => `${body.id} ended and is in a lane`),
    ...ended.filter(({ state }) => state.completedAt === undefined).map(({ body }) => `${body.id} ended at no time`),
  ];
}

const STATUS_OF: Readonly<Record<OutcomeKind, readonly TaskStatus[]>> = {
  ran: ['completed', 'permanently_failed'],
  steered: ['skipped'],
  merged: ['skipped'],
  skipped: ['skipped'],
  superseded: ['cancelled'],
  rejected: ['cancelled'],
  dropped: ['cancelled'],
  cancelled: ['cancelled'],
  expired: ['stale', 'permanently_failed'],
};

/** What ended has one outcome, which fits its status; what went into another task is there, once, and in no other. */
function outcomes({ tasks }: LedgerData): string[] {
  const all = [...tasks.values()].filter((task) => task !== null);
  const taken = all.flatMap(({ body, state }) =>
    (state.inputs ?? []).filter(({ how }) => how !== 'carried').map(({ id, how }) => `${id} ${how} into ${body.id}`),
  );
  const ended = all.filter(({ state }) => isTerminal(state.status));
  const wentIn = ended.filter(({ state }) => state.outcome?.kind === 'steered' || state.outcome?.kind === 'merged');
  return [
    ...all
      .filter(({ state }) => isTerminal(state.status) !== (state.outcome !== undefined))
      .map(({ body, state }) => `${body.id} is ${state.status} with outcome ${state.outcome?.kind ?? 'none'}`),
    ...ended
      .filter(({ state }) => state.outcome && !STATUS_OF[state.outcome.kind].includes(state.status))
      .map(({ body, state }) => `${body.id} is ${state.status} and ${state.outcome?.kind}`),
    ...difference(
      'inputs',
      taken,
      wentIn.map(({ body, state }) => `${body.id} ${state.outcome?.kind} into ${state.outcome?.taskId}`),
    ),
    ...taken.filter((each, at) => taken.indexOf(each) !== at).map((each) => `${each} twice`),
  ];
}

/** Whoever has to hear of an end finds it. */
function notified({ tasks, ended }: LedgerData): string[] {
  const all = [...tasks.values()].filter((task) => task !== null && isTerminal(task.state.status));
  const outbox = all.flatMap(({ body, state }) => (state.tell ?? []).map((kind) => ({ kind, id: body.id })));
  return outbox
    .filter(({ kind, id }) => !ended.some((member) => member.startsWith(`${kind}/`) && member.endsWith(`/${TENANT}/${id}`)))
    .map(({ kind, id }) => `nobody is notified (${kind}) that ${id} ended`);
}
