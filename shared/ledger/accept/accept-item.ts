import { scriptJson, type TenantKeys } from '../../redis/index.ts';
import type { FirstState } from '../../tasks/index.ts';
import { bodyText, firstState } from '../codec/body.ts';
import { agentLanes, laneOfAgent } from '../context.ts';
import { costOf, levelName, ticketTail } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { lookupsOf } from '../read/lookups.ts';
import type { NewTask, RepeatRule } from './new-task.ts';

/** A task or message as `accept-tasks.lua` takes it, beside its body. What is undefined is left out. */
interface ItemFields {
  id: string;
  /** Of what the caller sent under its key. */
  digest?: string | undefined;
  /** For rates; absent for a task that counts for none. */
  rateClass?: string | undefined;
  /** For caps. */
  class: string;
  /** `<queue>/<rank>/`. */
  level: string;
  /** The end of its ticket's text; see `ready.lua`. */
  ticket: string;
  hasLane?: true | undefined;
  /** `<limit> <name>` of each of its shared lanes, separated by line feeds. */
  shared?: string | undefined;
  /**
   * `free`: the head of its state says all of it where no lane or cap keeps it waiting; `line`: also while it waits for its own lane; `skip`: it is
   * not to run.
   */
  path?: 'free' | 'line' | 'skip' | undefined;
  /** Ms since the epoch, in digits, which cost the script half as much as a number. */
  deadline?: string | undefined;
  sla?: string | undefined;
  /** What it counts from with an sla, ms. */
  ranksFrom?: number | undefined;
  repeats?: (RepeatRule & { source: string; agent: string }) | undefined;
  /** The task that delegated it. */
  parent?: string | undefined;
  /** Of the index, with its id. */
  lookups: string[];
  /** Of a message that may do something to others. */
  rules?: MessageRules | undefined;
}

/** What a message does to the work that it meets, by the configuration. */
interface MessageRules {
  /** How long a worker has to stop, ms. */
  grace: number;
  /** Of the end of what it replaces. */
  reason: string;
  /** Whether the input of what it stops goes on with it. */
  carries: boolean;
  collect: { debounceMs: number; longestWaitMs: number };
  /** How many messages gather, and what goes over that. */
  cap: number;
  overflow: string;
  /** Of a chat's message in mode `interrupt`, which gathers too. */
  arrival?: { sentAt: number | undefined; lateAfterMs: number };
  /** The running task that it is input for. */
  target?: string;
}

/** A task on its way into the script: its keys and its arguments. */
export interface AcceptItem {
  readonly task: NewTask;
  readonly keys: readonly string[];
  readonly args: readonly [fields: string, body: string];
}

/** `target`: the running task that it is input for. What is wrong with a task shows here, before others share a call with it. */
export function itemOf(ledger: Ledger, task: NewTask, target?: string): AcceptItem {
  const { body, lane, awaitedBy } = task;
  const costMs = costOf(ledger, task);
  const first = firstState(task, costMs);
  const rules = target !== undefined || mayMeetOthers(task) ? rulesOf(ledger, task, target) : undefined;
  const fields: ItemFields = {
    id: body.id,
    class: task.class,
    level: levelName(task.queue, task.priority),
    ticket: ticketTail({ costMs, maxAttempts: body.execution.maxAttempts, agent: body.agent, lane: lane?.name ?? null, awaitedBy }),
    lookups: lookupsOf(body).map((lookup) => `${lookup}/${body.id}`),
    digest: task.idempotency?.digest,
    path: pathOf(ledger, task, rules),
    rules,
    ...refusedBy(task, target),
    ...heldBy(task),
    ...timesOf(first),
  };
  return { task, keys: keysOf(ledger.keys.tenant(body.tenant), task, fields), args: [scriptJson(fields), bodyText(task, first)] };
}

/** What may refuse it, or hold it for its repeated input. */
function refusedBy({ body, rateClass, skip, repeats }: NewTask, target?: string): Pick<ItemFields, 'rateClass' | 'parent' | 'repeats'> {
  const { source, agent, parentTaskId } = body;
  return {
    rateClass: skip === null ? rateClass : undefined,
    parent: parentTaskId ?? undefined,
    repeats: repeats && target === undefined ? { ...repeats, source, agent } : undefined,
  };
}

/** The lanes that it may have to wait for. */
function heldBy({ lane, sharedLanes }: NewTask): Pick<ItemFields, 'hasLane' | 'shared'> {
  const shared = sharedLanes.map(({ name, limit }) => `${limit} ${name}`).join('\n');
  return { hasLane: lane ? true : undefined, shared: shared || undefined };
}

function timesOf({ deadline, sla, ranksFrom }: FirstState): Pick<ItemFields, 'deadline' | 'sla' | 'ranksFrom'> {
  return { deadline: deadline?.toString(), sla: sla?.toString(), ranksFrom };
}

/** The keys of a task's own, in the order of the script. */
function keysOf(keys: TenantKeys, { idempotency, lane, body }: NewTask, { repeats }: ItemFields): string[] {
  return [
    ...(idempotency ? [keys.idempotency(idempotency.key)] : []),
    ...(lane ? [keys.laneHeld(lane.name), keys.laneWait(lane.name)] : []),
    ...(repeats ? [keys.repeats(body.source, body.agent)] : []),
  ];
}

/** Input goes to its own agent only, so a message in mode `queue` whose agent takes none can do nothing but wait. */
function mayMeetOthers({ mode, lane, takesInput, skip }: NewTask): boolean {
  return mode !== null && lane !== null && skip === null && (mode !== 'queue' || takesInput);
}

/** Lets the script decode no more than it needs. */
function pathOf(ledger: Ledger, task: NewTask, rules: MessageRules | undefined): ItemFields['path'] {
  if (task.skip !== null) return 'skip';
  const isGathered = rules?.target !== undefined || rules?.arrival !== undefined;
  if (task.body.scheduledFor !== null || isGathered || lacksAgentLane(ledger, task)) return undefined;
  return isInTurn(task) ? 'line' : 'free';
}

/** Whether nothing but its place in its lane counts for it there. */
function isInTurn({ lane, mode, sharedLanes }: NewTask): boolean {
  return lane?.limit === 1 && lane.order === undefined && mode === null && sharedLanes.length === 0;
}

/** Whether its agent got a lane since the task was made. */
function lacksAgentLane(ledger: Ledger, { body, sharedLanes }: NewTask): boolean {
  const own = laneOfAgent(body.agent);
  return own in agentLanes(ledger, body.tenant) && !sharedLanes.some(({ name }) => name === own);
}

function rulesOf(
  { settings }: Ledger,
  { body: { scheduleId }, arrival, mode, isOneValue = false }: NewTask,
  target: string | undefined,
): MessageRules {
  const { collect, carryInterrupted } = settings.routing.queue;
  const gathers = mode === 'interrupt' && arrival !== undefined;
  return {
    grace: settings.worker.cancelGraceMs,
    reason: `a newer ${scheduleId === null ? 'message' : 'run'} took its place`,
    // A run of a schedule has the same input as the run that it replaces.
    carries: carryInterrupted && scheduleId === null && !isOneValue,
    collect: { debounceMs: gathers ? arrival.debounceMs : collect.debounceMs, longestWaitMs: collect.longestWaitMs },
    cap: collect.cap,
    overflow: collect.overflow,
    ...(gathers && { arrival: { sentAt: arrival.sentAt, lateAfterMs: arrival.lateAfterMs } }),
    ...(target !== undefined && { target }),
  };
}
