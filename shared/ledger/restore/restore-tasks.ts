import { hasAttempt, type TaskState } from '../../tasks/index.ts';
import { parseBody } from '../codec/body.ts';
import { parseState, stateText } from '../codec/state.ts';
import { contextKeys, laneKeys, shardKeys } from '../context.ts';
import { dueScore } from '../grants/due-times.ts';
import { backlogPlace } from '../grants/standing.ts';
import type { Ledger } from '../ledger.ts';
import { endLookup, lookupName, lookupsOf } from '../read/lookups.ts';
import type { CopiedTask } from './copy-tasks.ts';

/** What `restore-tasks.lua` is given of a task. */
interface Given {
  id: string;
  state: string;
  live: string[];
  lane: string | null;
  lease?: number;
  due?: number;
  deadline?: number;
  sla?: number;
  wait?: number;
  held?: string;
  place?: string;
}

/** Holds that only a release ends: by a person, or by what a chore finds in the records. All others are found again by the task itself. */
const KEPT_HOLDS: ReadonlySet<string> = new Set(['repeats', 'failures', 'agent', 'budget']);
const PAGE = 500;

/** Writes all of a task's but its state: nobody sees it yet. */
export async function writeParts({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string, task: CopiedTask): Promise<void> {
  const own = keys.tenant(tenant);
  const { id, body, output, result, usage, attempts, journal, files } = task;
  const writing = redis.multi().hset(own.bodies, id, body);
  if (output !== null) writing.hset(own.outputs, id, output);
  if (result !== null) writing.hset(own.results, id, result);
  const { state, members } = readTask(task);
  if (usage !== null) writing.hset(own.runningUsage, `${id}:${state.token}`, usage);
  writeFields(writing, own.attempts, attempts);
  writeFields(writing, own.journal(id), journal);
  writeFields(writing, own.taskFiles(id), files);
  writing.zadd(own.index, ...members.flatMap((member) => ['0', `${member}/${id}`]));
  await writing.exec();
}

interface FieldWriter {
  hset(key: string, ...fields: string[]): unknown;
}

function writeFields(writing: FieldWriter, key: string, fields: readonly (readonly [string, string])[]): void {
  for (let from = 0; from < fields.length; from += PAGE) writing.hset(key, ...fields.slice(from, from + PAGE).flat());
}

/**
 * Gives tasks whose parts are written to the fleet, each once, and returns how many: those that have ended are found, those that ran are taken back as
 * losses, all others wait where they did, or look again at what they waited for.
 */
export async function giveTasks(ledger: Ledger, tenant: string, tasks: readonly CopiedTask[]): Promise<number> {
  if (tasks.length === 0) return 0;
  const given = tasks.map((task) => planTask(task));
  const [states = '', live = ''] = contextKeys(ledger, tenant);
  const { leases, due, deadlines, slas, waits } = shardKeys(ledger, tenant);
  const reply = await ledger.run(
    'restore-tasks',
    [states, live, leases, due, deadlines, slas, waits, ...laneKeys(ledger, tenant, given)],
    [tenant, ...given.map(({ lane, ...each }) => JSON.stringify({ ...each, ...(lane !== null && { hasLane: true }) }))],
  );
  return Number(reply);
}

function readTask({ body: text, state: stored }: Pick<CopiedTask, 'body' | 'state'>): { state: TaskState; members: string[] } {
  const { first, ...body } = parseBody(text);
  const state = parseState(stored, first);
  const ends = state.completedAt === undefined ? [] : [`status=${state.status}`, endLookup(state.status, state)];
  return { state, members: [...lookupsOf(body), ...ends] };
}

function planTask(task: CopiedTask): Given {
  const { id, state: text, held, place } = task;
  const { state } = readTask(task);
  const base: Given = { id, state: text, live: [], lane: state.completedAt === undefined ? (state.lane ?? null) : null };
  if (state.completedAt !== undefined) return base;
  if (state.deadline !== undefined) base.deadline = state.deadline;
  if (state.sla !== undefined && state.slaBreached !== true) base.sla = state.sla;
  if (held !== null) base.held = held;
  if (place !== null) base.place = place;
  return { ...base, ...standingOf(id, state, place !== null) };
}

/** Where a task that has not ended stands in the restored fleet. */
function standingOf(id: string, state: TaskState, isInLine: boolean): Pick<Given, 'live'> & Partial<Given> {
  const granted = `granted=${state.class}/${id}`;
  const own = `${state.status}/${id}`;
  const { notBefore, hold, suspended } = state;
  const due = notBefore === undefined ? {} : { due: dueScore(state.status, notBefore) };
  // Its lease has run out: whoever looks for lost attempts takes it back.
  if (hasAttempt(state.status)) return { live: [granted, ...lanesOf(id, state)], lease: state.token };
  if (suspended !== undefined) return { live: [own], ...due, wait: suspended.entry };
  if (hold !== undefined && KEPT_HOLDS.has(hold.gate)) return { live: [own, holdMember(id, state)], ...due };
  if (hold === undefined && notBefore !== undefined) return { live: [state.granted === true ? granted : own], ...due };
  if (isInLine) return { live: [own] };
  return lookAgain(id, state);
}

function lanesOf(id: string, { sharedLanes = [] }: TaskState): string[] {
  return sharedLanes.map(({ name }) => `holds=${name}/${id}`);
}

/** It passes its gates again, in the order in which tasks were accepted, as one whose time has come. */
function lookAgain(id: string, state: TaskState): Pick<Given, 'live'> & Partial<Given> {
  const { granted: _granted, hold: _hold, passed: _passed, preempts: _preempts, ...rest } = state;
  const waiting: TaskState = { ...rest, gate: 'time', notBefore: state.createdAt };
  return { state: stateText(waiting), live: [`${state.status}/${id}`], due: state.createdAt };
}

/** As `hold_member` of the scripts writes it. */
function holdMember(id: string, state: TaskState): string {
  const { gate = '', what = '' } = state.hold ?? {};
  const rank = String(10 - state.priority).padStart(2, '0');
  return `${lookupName('hold', `${gate}:`)}${lookupName('', what).slice(1)}/${rank}/${backlogPlace(state, id)}`;
}
