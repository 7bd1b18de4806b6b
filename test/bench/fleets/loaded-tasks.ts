import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import type { FleetOptions } from './our-fleet.ts';

const HOUR_MS = 3_600_000;
const PRIORITIES = [3, 5, 8] as const;

/** What an operator may set for a tenant: caps of every kind that are never full, rates, and a weight. */
export const LIMITED: FleetOptions = {
  limits: {
    tenants: {
      default: {
        running: 100_000,
        waiting: 1_000_000,
        runningByClass: { user: 100_000, proactive: 100_000, webhook: 100_000 },
        runningLow: 100_000,
        weight: 2,
        rates: { user: { perMinute: 60_000_000, perHour: 1_000_000_000 }, all: { perMinute: 60_000_000, perHour: 1_000_000_000 } },
      },
    },
  },
};

/** A shared lane of all tasks. */
export const AGENT_CAP: FleetOptions = { agent: { maxRunning: 100_000 } };

/** What the n-th task has, beside its input. */
export type Extras = (index: number, id: string) => Partial<AcceptRequest>;

export const priority: Extras = (index) => ({ priority: PRIORITIES[index % PRIORITIES.length] ?? 5 });
export const session: Extras = (index) => ({ session: `session-${index}` });
export const idempotencyKey: Extras = (_index, id) => ({ idempotencyKey: id });
export const deadline: Extras = () => ({ deadline: new Date(Date.now() + HOUR_MS).toISOString() });
export const facts: Extras = (index) => ({
  metadata: { team: 'a', ticket: index },
  context: { page: 'start' },
  correlationId: `call-${index}`,
});

/** All that a task can carry at once. */
export const EVERYTHING: readonly Extras[] = [priority, session, idempotencyKey, deadline, facts];

/** The n-th task with these. */
export function extrasOf(extras: readonly Extras[], index: number): Partial<AcceptRequest> {
  const id = newTaskId();
  return Object.assign({ id }, ...extras.map((each) => each(index, id))) as Partial<AcceptRequest>;
}
