import { TASK_QUEUES, type TaskQueue } from '../config/index.ts';

/** What waits in a queue. */
export interface QueueGauge {
  name: TaskQueue;
  waiting: number;
  /** How long the first of them has waited; null while none waits. */
  oldestMs: number | null;
}

/** What was measured at one moment, of a tenant or of the fleet. */
export interface Gauges {
  running: number;
  /** Tasks that have not ended and do not run. */
  waiting: number;
  /** Of the fleet only. */
  slots?: number;
  queues?: readonly QueueGauge[];
}

/** The greatest values of a minute, by field; see `add-counts.lua`. */
export function gaugeFields({ running, waiting, slots, queues = [] }: Gauges): [field: string, value: number][] {
  return [
    ['gauge|running|max', running],
    ['gauge|waiting|max', waiting],
    ...(slots === undefined ? [] : [['gauge|slots|max', slots] satisfies [string, number]]),
    ...queues.flatMap(({ name, waiting: tasks, oldestMs }): [string, number][] => [
      [`queue|${name}|waiting|max`, tasks],
      ...(oldestMs === null ? [] : [[`queue|${name}|oldest|max`, Math.round(oldestMs)] satisfies [string, number]]),
    ]),
  ];
}

/** What was measured in a minute; null where nothing was. */
export interface ReadGauges {
  running: number | null;
  waiting: number | null;
  slots: number | null;
  queues: QueueGauge[];
}

/** Reads the fields of a minute. */
export function readGauges(fields: Readonly<Record<string, string>>): ReadGauges {
  const valueOf = (field: string): number | null => (fields[field] === undefined ? null : Number(fields[field]));
  return {
    running: valueOf('gauge|running|max'),
    waiting: valueOf('gauge|waiting|max'),
    slots: valueOf('gauge|slots|max'),
    queues: TASK_QUEUES.flatMap((name) => {
      const waiting = valueOf(`queue|${name}|waiting|max`);
      return waiting === null ? [] : [{ name, waiting, oldestMs: valueOf(`queue|${name}|oldest|max`) }];
    }),
  };
}
