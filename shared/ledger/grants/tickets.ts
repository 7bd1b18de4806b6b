import type { TaskQueue } from '../../config/index.ts';
import type { TaskBody } from '../../tasks/index.ts';
import type { NewTask } from '../accept/new-task.ts';
import type { Ledger } from '../ledger.ts';
import { acceptedAtOf } from './standing.ts';

/** All that the job of a ticket in BullMQ is made of. */
export interface IssuedTicket {
  tenant: string;
  task: string;
  /** Its number, from 1: a task gets another when one was lost or used up. */
  number: number;
  agent: string;
  lane: string | null;
  queue: TaskQueue;
  priority: number;
  maxAttempts: number;
  /** When its task was accepted, ms since the epoch; absent for now. */
  acceptedAt?: number;
  /** What its task needs of the daemon that runs it; only of a task that was just accepted. */
  needs?: Pick<TaskBody, 'agent' | 'requirements' | 'user'>;
  /** The outbox entry that names it, perhaps with others. */
  entry: string;
}

const RANKS = 10;

/** How the scripts name a level: a queue and a priority, the best first. */
export function levelName(queue: TaskQueue, priority: number): string {
  return `${queue}/${String(RANKS - priority).padStart(2, '0')}/`;
}

/** What a ticket counts in turns when nothing is known of its agent, ms. */
const DEFAULT_COST_MS = 1000;

/** The cost of a task's tickets when it is not the default, which the scripts know. */
export function costOf(ledger: Pick<Ledger, 'costOf'>, { body, queue, priority }: NewTask): number | undefined {
  const cost = Math.max(1, Math.round(ledger.costOf?.(body.tenant, body.agent, { queue, priority }) ?? DEFAULT_COST_MS));
  return cost === DEFAULT_COST_MS ? undefined : cost;
}

/** The end of a ticket's text; see `ready.lua`. */
export function ticketTail({
  costMs,
  maxAttempts,
  agent,
  lane,
  awaitedBy,
}: Pick<IssuedTicket, 'maxAttempts' | 'agent' | 'lane'> & { costMs?: number | undefined; awaitedBy?: string | undefined }): string {
  return `${costMs ?? DEFAULT_COST_MS}/${maxAttempts}${awaitedBy === undefined ? '' : `@${awaitedBy}`}/${agent}/${lane ?? ''}`;
}

/** Reads tickets in the reply of a script: entry in the outbox, empty for that of the ticket before, and text of each. */
export function parseTickets(reply: readonly string[]): IssuedTicket[] {
  let entry = '';
  return Array.from({ length: reply.length / 2 }, (_, at) => {
    entry = reply[at * 2] || entry;
    return parseTicket(entry, reply[at * 2 + 1] ?? '');
  });
}

function parseTicket(entry: string, text: string): IssuedTicket {
  return { ...parseReadyTicket(text), entry };
}

/** Stands behind the agent of a run that began with one. */
const VERSION = /@.*/;

/** Reads a ticket that waits for its turn. */
export function parseReadyTicket(text: string): Omit<IssuedTicket, 'entry'> {
  const [queue = '', rank = '', tenant = '', standing, name = '', , maxAttempts = '', agent = '', ...lane] = text.split('/');
  const [task = '', number = '1'] = name.split('.');
  return {
    tenant,
    task,
    number: Number(number),
    agent: agent.replace(VERSION, ''),
    // A lane's name may hold slashes.
    lane: lane.join('/') || null,
    queue: queue as TaskQueue,
    priority: RANKS - Number(rank),
    maxAttempts: Number.parseInt(maxAttempts, 10),
    acceptedAt: acceptedAtOf(standing),
  };
}
