import type { TaskStatus } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { statusFits, type TaskFilter, workerFits } from './task-filter.ts';

/** What a task is counted and searched by. An empty text is not known, or not there. */
export interface TaskFacts {
  status: TaskStatus;
  agent: string;
  source: string;
  worker: string;
  /** Of the last failure. */
  code: string;
}

/** States that one call to Redis reads; it answers no other caller meanwhile. */
const TOGETHER = 250;

/** The facts of tasks, in their order; null for a missing one, `unreadable` for one that cannot be read. Without `withAgent` agent and source may be unknown. */
export async function readFacts(
  ledger: Ledger,
  tenant: string,
  ids: readonly string[],
  { withAgent }: { withAgent: boolean },
): Promise<(TaskFacts | 'unreadable' | null)[]> {
  const { states, bodies } = ledger.keys.tenant(tenant);
  const facts: (TaskFacts | 'unreadable' | null)[] = [];
  for (let from = 0; from < ids.length; from += TOGETHER) {
    const args = [withAgent ? '1' : '', ...ids.slice(from, from + TOGETHER)];
    facts.push(...((await ledger.run('read-facts', [states, bodies], args)) as string[]).map(parseFacts));
  }
  return facts;
}

/** Whether a task has the status, code, worker and release that are given. */
export function factsFit({ status, source, code, worker }: TaskFacts, filter: TaskFilter): boolean {
  if (filter.code !== undefined && code !== filter.code) return false;
  return workerFits(worker, filter) && statusFits(status, source, filter);
}

function parseFacts(text: string): TaskFacts | 'unreadable' | null {
  if (text === '') return null;
  if (text === '?') return 'unreadable';
  const [status = '', agent = '', source = '', worker = '', ...code] = text.split(' ');
  return { status: status as TaskStatus, agent: given(agent), source: given(source), worker: given(worker), code: given(code.join(' ')) };
}

function given(word: string): string {
  return word === '-' ? '' : word;
}
