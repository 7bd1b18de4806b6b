import { array, check, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bandOf,
  BANDS,
  type Band,
  chooseNext,
  maxLowBesideOthers,
  roomFor,
  type RunningTickets,
  type SlotPolicy,
  type WaitingTicket,
} from '#shared/queue/permits/choose-next.ts';
import { rankOf } from '#shared/queue/permits/next-ticket.ts';
import { bullPriority } from '#shared/queue/tickets/ticket.ts';

type Queue = WaitingTicket['queue'];

const QUEUES = ['critical', 'chat', 'webhooks', 'schedules', 'tasks', 'background'] as const;
const NOW = 1_000_000;
const POLICY: SlotPolicy = {
  slots: 28,
  reserved: 6,
  weights: new Map([
    ['critical', 6],
    ['chat', 8],
    ['webhooks', 4],
    ['schedules', 4],
    ['tasks', 4],
    ['background', 2],
  ]),
  shares: { high: 40, normal: 35, low: 15 },
  lowAgeMs: 10_000,
};

function policyOf(slots: number, reserved: number): SlotPolicy {
  return { ...POLICY, slots, reserved };
}

function ticket(queue: Queue, priority: number, madeAt = NOW): WaitingTicket {
  return { queue, priority, madeAt, rank: rankOf(bullPriority(priority), madeAt) };
}

/** A worker of the model: it runs tickets of these queues and bands, in the order in which they started. */
class Worker {
  readonly policy: SlotPolicy;
  readonly running: { queue: Queue; band: Band }[] = [];
  fetching = 0;

  constructor(policy: SlotPolicy = POLICY) {
    this.policy = policy;
  }

  get counts(): RunningTickets {
    const queues = new Map(QUEUES.map((queue) => [queue, this.running.filter((each) => each.queue === queue).length]));
    const ordinary = this.running.filter(({ queue }) => queue !== 'critical');
    const count = (band: Band): number => ordinary.filter((each) => each.band === band).length;
    return { queues, bands: { high: count('high'), normal: count('normal'), low: count('low') }, fetching: this.fetching };
  }

  /** Starts the chosen ticket, if any. */
  start(waiting: readonly WaitingTicket[]): WaitingTicket | null {
    const chosen = chooseNext(waiting, this.counts, this.policy, NOW);
    if (chosen) this.running.push({ queue: chosen.queue, band: bandOf(chosen, this.policy, NOW) });
    return chosen;
  }

  /** Starts tickets of queues that never run empty, until no slot is left. */
  startAll(waiting: readonly WaitingTicket[]): this {
    while (this.start(waiting));
    return this;
  }
}

const waitingTickets = array(
  record({ queue: constantFrom(...QUEUES), priority: integer({ min: 1, max: 10 }), age: integer({ min: 0, max: 20_000 }) }),
  { maxLength: 8 },
).map((all) => all.map(({ queue, priority, age }) => ticket(queue, priority, NOW - age)));
const policies = record({ slots: integer({ min: 1, max: 40 }), kept: integer({ min: 0, max: 40 }) }).map(({ slots, kept }) =>
  policyOf(slots, Math.min(kept, slots - 1)),
);
/** Rounds of a worker's life: what waits, and which of its tickets ends before. */
const lives = array(record({ waiting: waitingTickets, ends: integer({ min: 0, max: 3 }), position: integer({ min: 0, max: 40 }) }), {
  minLength: 1,
  maxLength: 80,
});

/** The shortest life in which a choice breaks this rule about it and the state before it; null when none does. */
function exception(rule: (worker: Worker, waiting: readonly WaitingTicket[], chosen: WaitingTicket | null) => boolean): unknown {
  const holds = property(policies, lives, (policy, rounds) => {
    const worker = new Worker(policy);
    return rounds.every(({ waiting, ends, position }) => {
      if (worker.running.length > 0) worker.running.splice(position % worker.running.length, ends);
      const isKept = rule(worker, waiting, chooseNext(waiting, worker.counts, policy, NOW));
      worker.start(waiting);
      return isKept;
    });
  });
  return check(holds).counterexample;
}

const isCritical = ({ queue }: WaitingTicket): boolean => queue === 'critical';
const isLow = (ticketOfWorker: WaitingTicket): boolean => !isCritical(ticketOfWorker) && bandOf(ticketOfWorker, POLICY, NOW) === 'low';

describe('the next ticket of a worker', () => {
  it('is null only when no slot is free for any ticket that waits', () => {
    const found = exception((worker, waiting, chosen) => {
      const mayRun = waiting.some((each) => roomFor(isCritical(each) ? 'critical' : 'ordinary', worker.counts, worker.policy) > 0);
      return (chosen === null) !== mayRun;
    });
    expect(found).toBeNull();
  });

  it('is critical when a critical one waits and a slot is free', () => {
    const found = exception((worker, waiting, chosen) => {
      const mustBe = waiting.some(isCritical) && worker.running.length < worker.policy.slots;
      return !mustBe || chosen?.queue === 'critical';
    });
    expect(found).toBeNull();
  });

  it('never takes the worker over its slots, nor others over what is reserved for critical ones', () => {
    const found = exception(({ running, policy }) => {
      const others = running.filter(({ queue }) => queue !== 'critical');
      return running.length <= policy.slots && others.length <= policy.slots - policy.reserved;
    });
    expect(found).toBeNull();
  });

  it('is low beside others only while low ones have less than their share', () => {
    const found = exception((worker, waiting, chosen) => {
      const isLowBesideOthers = chosen !== null && isLow(chosen) && waiting.some((each) => !isLow(each));
      return !isLowBesideOthers || worker.counts.bands.low < maxLowBesideOthers(worker.policy);
    });
    expect(found).toBeNull();
  });

  it('has the best rank of those of its queue that count as it does', () => {
    const found = exception((_worker, waiting, chosen) => {
      const rivals = waiting.filter(({ queue }) => queue === chosen?.queue);
      const equals = rivals.filter((each) => chosen !== null && bandOf(each, POLICY, NOW) === bandOf(chosen, POLICY, NOW));
      return equals.every(({ rank }) => chosen !== null && rank >= chosen.rank);
    });
    expect(found).toBeNull();
  });
});

describe('slots for which all bands compete', () => {
  const flood = [ticket('chat', 8), ticket('tasks', 5), ticket('background', 1)];

  it('go to them by their shares', () => {
    // 22 slots, 40 to 35 to 15.
    expect(new Worker().startAll(flood).counts.bands).toEqual({ high: 10, normal: 9, low: 3 });
  });

  it('come back to their shares whatever ends', () => {
    const worker = new Worker();
    worker.startAll([ticket('background', 1)]);
    expect(worker.counts.bands).toEqual({ high: 0, normal: 0, low: 22 });
    while (worker.running[0]?.band === 'low' && worker.counts.bands.low > 4) {
      worker.running.shift();
      expect(worker.start(flood)?.queue).not.toBe('background');
    }
    expect(worker.counts.bands).toMatchObject({ low: 4 });
  });

  it('go to one band completely when no other waits', () => {
    for (const [queue, priority, band] of [
      ['chat', 8, 'high'],
      ['tasks', 5, 'normal'],
      ['background', 1, 'low'],
    ] as const) {
      expect(new Worker().startAll([ticket(queue, priority)]).counts.bands[band]).toBe(22);
    }
  });

  it('go to the bands in their order while nothing runs', () => {
    for (const best of BANDS) {
      const waiting = flood.filter((each) => BANDS.indexOf(bandOf(each, POLICY, NOW)) >= BANDS.indexOf(best));
      expect(bandOf(chooseNext(waiting, new Worker().counts, POLICY, NOW) ?? ticket('tasks', 1), POLICY, NOW)).toBe(best);
    }
  });
});

describe('slots for which queues of one band compete', () => {
  it('go to them by their weights', () => {
    const { queues } = new Worker().startAll([ticket('chat', 5), ticket('webhooks', 5), ticket('tasks', 5)]).counts;
    expect([queues.get('chat'), queues.get('webhooks'), queues.get('tasks')]).toEqual([11, 6, 5]);
  });

  it('go to a single message before the rest of a flood', () => {
    const worker = new Worker().startAll([ticket('tasks', 5, 0)]);
    worker.running.pop();
    expect(worker.start([ticket('tasks', 5, 0), ticket('chat', 5)])?.queue).toBe('chat');
  });

  it('go by priority and then by age while nothing runs', () => {
    expect(new Worker().start([ticket('chat', 5), ticket('tasks', 7)])).toEqual(ticket('tasks', 7));
    expect(new Worker().start([ticket('chat', 5, 2), ticket('tasks', 5, 1)])).toEqual(ticket('tasks', 5, 1));
  });
});

describe('a low ticket', () => {
  it('over its share waits for tickets that are being fetched, since others may follow them', () => {
    const worker = new Worker().startAll([ticket('tasks', 5), ticket('background', 1)]);
    worker.running.splice(0, 10);
    const low = [ticket('background', 1)];
    worker.fetching = 1;
    expect(worker.startAll(low).counts.bands.low).toBe(4);
    worker.fetching = 0;
    expect(worker.start(low)?.queue).toBe('background');
  });

  it('counts as a normal one once it has waited for long', () => {
    expect(bandOf({ priority: 1, madeAt: NOW - 9999 }, POLICY, NOW)).toBe('low');
    expect(bandOf({ priority: 1, madeAt: NOW - 10_000 }, POLICY, NOW)).toBe('normal');
    const worker = new Worker().startAll([ticket('tasks', 5), ticket('background', 1)]);
    worker.running.splice(
      worker.running.findIndex(({ queue }) => queue === 'tasks'),
      1,
    );
    expect(worker.start([ticket('tasks', 5), ticket('background', 1, 0)])?.queue).toBe('background');
  });

  it('gets one slot beside others, however few there are', () => {
    expect(maxLowBesideOthers({ ...POLICY, slots: 2 })).toBe(1);
  });
});
