import type { TaskState } from '../tasks/index.ts';
import { bookOptions } from './book-options.ts';
import type { Ledger } from './ledger.ts';
import { parseFullState } from './parse-state.ts';
import { runMoving } from './run-moving.ts';
import { bookKeys } from './task-keys.ts';

export interface NewPriority {
  priority: number;
  queue: string;
  class: string;
}

export type PriorityAnswer = { kind: 'changed'; state: TaskState } | { kind: 'running' | 'gone' };

/** Changes the priority of a task that does not run. A granted one needs the ticket in the answer's state. */
export async function changePriority(ledger: Ledger, tenant: string, id: string, change: NewPriority): Promise<PriorityAnswer> {
  const [kind, state] = (await runMoving(ledger, tenant, 'change-priority', bookKeys(ledger, tenant), [
    JSON.stringify(bookOptions(ledger, tenant)),
    id,
    change.priority,
    change.queue,
    change.class,
  ])) as [PriorityAnswer['kind'], string?];
  return kind === 'changed' ? { kind, state: parseFullState(`${state}`) } : { kind };
}
