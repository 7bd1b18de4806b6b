import { z } from 'zod';
import type { Settings } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';
import { isRedisUnavailable, type Keys, type RedisClient } from '../../redis/index.ts';
import type { Clock } from '../../time/index.ts';
import { type ChoreDefinition, type ChoreName, choreNames, definitionOf } from './chores.ts';

interface RecordPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

export interface ChoreRecordsOptions extends RecordPorts {
  /** The name of this process, in records. */
  readonly process: string;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_ERROR_CHARACTERS = 500;

const ranSchema = z.object({ at: z.number(), tookMs: z.number(), process: z.string() });
const failedSchema = z.object({ at: z.number(), error: z.string(), process: z.string() });

/** When a chore ran last in the fleet, and when it failed last; ms since the epoch by the clock of its process, null for never. */
export interface ChoreReport extends Pick<ChoreDefinition, 'runs' | 'by' | 'guarantees'> {
  name: ChoreName;
  everyMs: number;
  ran: z.infer<typeof ranSchema> | null;
  failed: z.infer<typeof failedSchema> | null;
}

/** ChoreRecords is responsible for what is known of the rounds of this process: in its log, and in Redis for the whole fleet. */
export class ChoreRecords {
  readonly #options: ChoreRecordsOptions;
  /** What is not in Redis yet. */
  readonly #unsaved = new Map<string, string>();
  readonly #failing = new Set<ChoreName>();

  constructor(options: ChoreRecordsOptions) {
    this.#options = options;
  }

  noteRun(chore: ChoreName, tookMs: number): void {
    const { clock, process, log } = this.#options;
    this.#unsaved.set(`${chore}/ran`, JSON.stringify({ at: clock.now(), tookMs: Math.round(tookMs), process }));
    if (this.#failing.delete(chore)) log.info({ event: 'chore.recovered', chore }, 'a chore that failed works again');
  }

  /** Of failures in a row, the first is logged. That Redis is away, or refuses, is no failure of a chore: other parts say that once for all of them. */
  noteFailure(chore: ChoreName, error: unknown): void {
    const { clock, process, log } = this.#options;
    if (isRedisUnavailable(error)) {
      log.debug({ event: 'chore.failed', chore, err: error }, 'a chore waits for Redis');
      return;
    }
    const text = (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR_CHARACTERS);
    this.#unsaved.set(`${chore}/failed`, JSON.stringify({ at: clock.now(), error: text, process }));
    const isKnown = this.#failing.has(chore);
    this.#failing.add(chore);
    log[isKnown ? 'debug' : 'warn']({ event: 'chore.failed', chore, err: error }, 'a chore failed; it runs again');
  }

  async save(): Promise<void> {
    if (this.#unsaved.size === 0) return;
    const fields = Object.fromEntries(this.#unsaved);
    this.#unsaved.clear();
    await this.#options.redis.hset(this.#options.keys.fleet.chores, fields);
  }
}

/** The fleet's chores in the order of their list, with when each ran last. */
export async function readChores({ redis, keys, settings }: RecordPorts & { settings: Settings }): Promise<ChoreReport[]> {
  const stored = await redis.hgetall(keys.fleet.chores);
  return choreNames().map((name) => {
    const { runs, by, guarantees, everyMs } = definitionOf(name);
    const ran = parse(ranSchema, stored[`${name}/ran`]);
    const failed = parse(failedSchema, stored[`${name}/failed`]);
    return { name, runs, by, guarantees, everyMs: everyMs(settings), ran, failed };
  });
}

/** Null also for what another release wrote. */
function parse<T>(schema: z.ZodType<T>, text: string | undefined): T | null {
  try {
    return text === undefined ? null : (schema.safeParse(JSON.parse(text)).data ?? null);
  } catch {
    return null;
  }
}
