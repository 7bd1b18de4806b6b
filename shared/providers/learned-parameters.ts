import { z } from 'zod';
import type { Log } from '../log/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { Recent } from '../time/index.ts';
import { accountLabel, throttleId } from './account.ts';
import type { ThrottledModel } from './throttle-scripts.ts';

/** What a parameter becomes in a request: another name, nothing (`null`), or a value that is not more. */
const changeSchema = z.object({ as: z.string().nullable().optional(), max: z.number().optional() });
const changesSchema = z.record(z.string(), changeSchema);
/** By the name that the parameter has without it. */
export type ParameterChanges = Readonly<Record<string, Readonly<z.infer<typeof changeSchema>>>>;

/** The field of a throttle that keeps them: they are of the same account and model, and are forgotten with it. */
const FIELD = 'parameters';
/** Models whose changes one process knows; others are read again. */
const MAX_KNOWN = 1000;

/** LearnedParameters is responsible for what the fleet knows of parameters that a model's server refuses, so that it is asked once. */
export class LearnedParameters {
  readonly #ports: { readonly redis: RedisClient; readonly keys: Keys; readonly log: Log };
  readonly #known = new Recent<string, ParameterChanges>({ maxEntries: MAX_KNOWN });

  constructor(ports: { readonly redis: RedisClient; readonly keys: Keys; readonly log: Log }) {
    this.#ports = ports;
  }

  /** Never rejects: without Redis the server says it again. */
  async read(target: ThrottledModel): Promise<ParameterChanges> {
    const id = throttleId(target.account, target.model);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    try {
      const changes = parseChanges(await this.#ports.redis.hget(this.#ports.keys.fleet.throttle(id), FIELD));
      this.#known.set(id, changes);
      return changes;
    } catch (error) {
      this.#ports.log.debug({ err: error }, 'what a model refuses could not be read');
      return {};
    }
  }

  /** Never rejects. */
  async learn(target: ThrottledModel, changes: ParameterChanges): Promise<void> {
    const { redis, keys, log } = this.#ports;
    const id = throttleId(target.account, target.model);
    this.#known.set(id, changes);
    const fields = { event: 'provider.parameters', account: accountLabel(target.account), model: target.model };
    log.info({ ...fields, changes: describeChanges(changes) }, 'a model refuses parameters, and is called without them from now on');
    try {
      // Its throttle is there while it is called; without one, nothing would remove the field.
      if ((await redis.exists(keys.fleet.throttle(id))) === 1) await redis.hset(keys.fleet.throttle(id), FIELD, JSON.stringify(changes));
    } catch (error) {
      log.debug({ err: error }, 'what a model refuses could not be kept');
    }
  }
}

/** What a throttle's fields say of them. */
export function parseChanges(text: string | null | undefined): ParameterChanges {
  const read = changesSchema.safeParse(text ? JSON.parse(text) : {});
  return read.success ? read.data : {};
}

/** In words: "max_tokens is sent as max_completion_tokens". */
export function describeChanges(changes: ParameterChanges): string[] {
  return Object.entries(changes).map(([name, { as, max }]) => {
    if (as === null) return `${name} is left out`;
    return [as === undefined ? name : `${name} is sent as ${as}`, max === undefined ? '' : `at most ${max}`].filter(Boolean).join(', ');
  });
}
