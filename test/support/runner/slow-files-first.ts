import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, in seconds on two quiet cores. One that began last would keep the other core idle to the end. */
const SLOW = new Map([
  ['recovery/poison-that-blocks-or-fills-its-process', 84],
  ['in-order/a-full-fleet-keeps-order', 51],
  ['console/console-in-browser', 49],
  ['nothing-is-lost/an-occurrence-fires-once', 49],
  ['recovery/poison-ends-only-its-own-process', 43],
  ['recovery/redis-away', 42],
  ['nothing-is-lost/every-webhook-makes-one-task', 36],
  ['docs/snippets', 36],
  ['nothing-is-lost/nothing-accepted-is-lost', 35],
]);

/** Starts the slow files first, the others as Vitest does: by what the last run took, else by size. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- This is Vitest's method, not an array's.
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}

function secondsOf({ moduleId }: TestSpecification): number {
  for (const [name, seconds] of SLOW) if (moduleId.endsWith(`${name}.test.ts`)) return seconds;
  return 0;
}
