import { type Arbitrary, array, boolean, constant, constantFrom, integer, nat, oneof, option, record } from 'fast-check';
import type { TaskQueue } from '#shared/config/sources.ts';
import { TENANT } from '../support/test-ledger.ts';

const QUEUES = ['critical', 'chat', 'webhooks', 'tasks', 'background'] as const satisfies TaskQueue[];
export const TENANTS = [TENANT, 'b', 'c'];
const WORKERS = 4;
const HOLDS = ['a', 'b'];

/** What a tenant may have: places in its shared lanes, and caps. */
export interface Figures {
  gpu: number;
  disk: number;
  running: number | null;
  low: number | null;
  webhook: number | null;
  weight: number;
}

export interface Wish {
  queue: TaskQueue;
  tenant: string;
  priority: number;
  letter: string;
  agent: string;
  /** One bit for each lane that tasks share. */
  lanes: number;
  /** The first of these is none. */
  session: number;
  early: boolean;
  later: boolean;
  awaited: boolean;
  count: number;
}

export type Ending = 'done' | 'again' | 'retry' | 'later' | 'held' | 'blocked';

export type Step =
  | ({ kind: 'accept' } & Wish)
  | { kind: 'claim'; calls: { worker: number; count: number }[] }
  | { kind: 'end'; worker: number; ends: { pick: number; how: Ending }[]; claims: boolean }
  | { kind: 'kill'; worker: number }
  | { kind: 'due' | 'cancel'; pick: number }
  | { kind: 'hold'; pick: number; name: string }
  | { kind: 'release'; tenant: string; name: string; max: number }
  | { kind: 'reprioritize'; pick: number; priority: number; queue: TaskQueue }
  | { kind: 'pause'; queue: TaskQueue }
  | { kind: 'span' | 'age' }
  | { kind: 'limit'; tenant: string; figures: Figures };

const pick = nat(50);
const worker = nat(WORKERS - 1);
const queue = constantFrom(...QUEUES);
const tenant = constantFrom(...TENANTS);
const priority = oneof({ weight: 3, arbitrary: constantFrom(1, 5, 8) }, { weight: 2, arbitrary: integer({ min: 1, max: 10 }) });
const name = constantFrom(...HOLDS);

const figures: Arbitrary<Figures> = record({
  gpu: integer({ min: 1, max: 3 }),
  disk: integer({ min: 1, max: 3 }),
  running: option(integer({ min: 1, max: 8 })),
  low: option(integer({ min: 1, max: 3 })),
  webhook: option(integer({ min: 1, max: 3 })),
  weight: constantFrom(1, 1, 2, 3),
});

const accept = record({
  kind: constant('accept' as const),
  queue,
  tenant,
  priority,
  letter: constantFrom('u', 'w'),
  agent: constantFrom('echo', 'slow', 'own'),
  lanes: oneof({ weight: 2, arbitrary: constant(0) }, { weight: 1, arbitrary: nat(3) }),
  session: oneof({ weight: 2, arbitrary: constant(0) }, { weight: 1, arbitrary: nat(3) }),
  early: boolean(),
  later: constantFrom(false, false, false, true),
  awaited: boolean(),
  count: integer({ min: 1, max: 4 }),
});

const end = record({
  kind: constant('end' as const),
  worker,
  // Attempts that end together: their slots claim in one call.
  ends: array(record({ pick, how: constantFrom<Ending[]>('done', 'done', 'done', 'again', 'retry', 'later', 'held', 'blocked') }), {
    minLength: 1,
    maxLength: 6,
  }),
  claims: constantFrom(true, true, true, false),
});

export const step: Arbitrary<Step> = oneof(
  { weight: 8, arbitrary: accept },
  {
    weight: 5,
    arbitrary: record({
      kind: constant('claim' as const),
      calls: array(record({ worker, count: integer({ min: 1, max: 12 }) }), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 8, arbitrary: end },
  { weight: 1, arbitrary: record({ kind: constant('kill' as const), worker }) },
  { weight: 3, arbitrary: record({ kind: constantFrom('due' as const, 'cancel' as const), pick }) },
  { weight: 1, arbitrary: record({ kind: constant('hold' as const), pick, name }) },
  { weight: 2, arbitrary: record({ kind: constant('release' as const), tenant, name, max: integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: record({ kind: constant('reprioritize' as const), pick, priority, queue }) },
  { weight: 1, arbitrary: record({ kind: constant('pause' as const), queue }) },
  { weight: 2, arbitrary: record({ kind: constantFrom('span' as const, 'age' as const) }) },
  { weight: 1, arbitrary: record({ kind: constant('limit' as const), tenant, figures }) },
);
