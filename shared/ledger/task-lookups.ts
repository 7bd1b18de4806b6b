import { SOURCES } from '../config/settings.ts';
import { isTerminal, type TaskStatus } from '../tasks/transitions.ts';
import { CLASS_LETTERS } from '../tasks/source-class.ts';
import type { Ledger } from './ledger.ts';

export interface LookupFilter {
  status?: TaskStatus;
  agent?: string;
  source?: string;
  session?: string;
  schedule?: string;
  correlation?: string;
  parent?: string;
}

/** A range of ids, each set in order of time: members `<prefix><id>` of a sorted set. */
export interface Lookup {
  key: string;
  prefix: string;
}

const CLASSES = Object.values(CLASS_LETTERS).flatMap((letter) => [`${letter}0`, `${letter}1`]);

/**
 * The lookups whose ids, together, hold every task that fits the filter, chosen so that they hold few others. Several sets
 * hold each task once: a task has one source, and one class.
 */
export function lookupsFor(ledger: Ledger, tenant: string, filter: LookupFilter): Lookup[] {
  const { index, live } = ledger.keys.tenant(tenant);
  for (const name of ['parent', 'correlation', 'session', 'schedule'] as const) {
    if (filter[name] !== undefined) return [{ key: index, prefix: `${name}=${filter[name]}/` }];
  }
  if (filter.status !== undefined) return byStatus(filter.status, index, live);
  for (const name of ['agent', 'source'] as const) {
    if (filter[name] !== undefined) return [{ key: index, prefix: `${name}=${filter[name]}/` }];
  }
  return SOURCES.map((source) => ({ key: index, prefix: `source=${source}/` }));
}

function byStatus(status: TaskStatus, index: string, live: string): Lookup[] {
  if (isTerminal(status)) return [{ key: index, prefix: `status=${status}/` }];
  const own = { key: live, prefix: `${status}/` };
  // Whatever holds a grant is listed by that, also a failed attempt whose next one is due at once.
  return status === 'pending' ? [own] : [own, ...CLASSES.map((each) => ({ key: live, prefix: `granted=${each}/` }))];
}
