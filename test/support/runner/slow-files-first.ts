import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take longest, 20 to 60 s on two quiet cores, in the order in which they start. One that began last would keep the other cores idle
 * to the end. A browser needs a core, so between two of its files stands one that waits.
 */
export const SLOW = [
  'console/console-in-browser',
  'chat/albums',
  'hooks/connections-in-browser',
  'docs/snippets',
  'lifecycle/run-service',
  'pages/administration-in-browser',
  'tasks/task-in-browser',
  'scheduler/create-scheduler-service',
  'task-list/task-list-in-browser',
  // Scenarios
  'recovery/clients-of-openai-outlive-kills',
  'bounds/what-is-kept-is-bounded',
  'runs/models-use-tools',
  'runs/events-resume-runs',
  'runs/coding-agents-resume',
  'runs/checkpoints-are-kept',
  'runs/people-decide',
  'recovery/poison-that-blocks-or-fills-its-process',
  'recovery/redis-away',
  'in-order/a-full-fleet-keeps-order',
  'nothing-is-lost/a-budget-holds-under-kills',
  'recovery/poison-ends-only-its-own-process',
  'bounds/a-provider-is-not-overrun',
  'nothing-is-lost/every-message-has-one-outcome',
  'nothing-is-lost/redis-never-costs-an-attempt',
  'hub/each-task-once-on-many-daemons',
  'nothing-is-lost/nothing-accepted-is-lost',
  'nothing-is-lost/an-occurrence-fires-once',
  'hub/a-laptops-day',
  'in-order/tenants-take-turns',
  'nothing-is-lost/every-webhook-makes-one-task',
  'bounds/no-slot-stands-idle',
  'recovery/workers-die-drain-and-freeze',
  'nothing-is-lost/one-live-attempt',
  'in-order/steer-and-interrupt',
  'recovery/redis-cluster-failovers',
  'recovery/clocks',
  'bounds/a-deleted-tenant-is-gone',
  'nothing-is-lost/infrastructure-never-costs-an-attempt',
  'in-order/one-session-at-a-time',
  'bounds/overload-sheds-what-can-wait',
  'bounds/capacity-cannot-leak',
  'in-order/mixed-work-fills-the-slots',
  'bounds/runaways-are-cut',
];

/** Starts the slow files first, the others as Vitest does: by what the last run took, else by size. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- This is Vitest's method, not an array's.
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = SLOW.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return place === -1 ? SLOW.length : place;
}
