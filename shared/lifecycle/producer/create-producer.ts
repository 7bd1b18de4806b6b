import type { AgentMap, InputOf } from '../../client/index.ts';
import { loadProducerConfig, type ProducerConfigOptions } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { toMusterError } from '../../http/index.ts';
import { openParts, type Parts } from '../open-parts.ts';
import { createLog } from '../../log/index.ts';
import { assertInstallation, assertServer } from '../../redis/index.ts';
import { DEFAULT_TENANT } from '../../tenants/index.ts';
import { acceptItems, type AcceptedTask, type TaskItem, type TaskOptions } from './accept-item.ts';

export interface ProducerOptions extends ProducerConfigOptions {
  /** Whose tasks they are. Defaults to `default`. */
  tenant?: string | undefined;
  /** What is logged to stdout. Defaults to nothing: what concerns a task is the error of its call. */
  logLevel?: 'silent' | 'error' | 'warn' | 'info' | undefined;
}

type Name<Agents> = keyof Agents & string;

/** Accepts tasks straight into the fleet's Redis. */
export interface Producer<Agents extends AgentMap = AgentMap> {
  /** Sends a task. Rejects with a `MusterError` of the codes of `POST /v1/tasks`; after `unavailable.redis` the same key may be sent again. */
  send<Agent extends Name<Agents>>(agent: Agent, input: InputOf<Agents[Agent]>, options?: TaskOptions): Promise<AcceptedTask>;
  /** Sends many tasks in their order. What is refused is an error in its place. */
  sendMany(items: readonly TaskItem[]): Promise<(AcceptedTask | MusterError)[]>;
  /** Waits until the tickets of accepted tasks are in BullMQ, and ends the connections. A producer that never sent has none. */
  close(): Promise<void>;
}

/**
 * A producer for the fleet behind this Redis. It connects with the first task, by the fleet's own configuration: agents, limits and lanes are
 * those that its file says. Agents made by the API are in Redis.
 */
export function createProducer<Agents extends AgentMap = AgentMap>(options: ProducerOptions = {}): Producer<Agents> {
  const connection = new ProducerConnection(options);
  const send = async (items: readonly TaskItem[]): Promise<(AcceptedTask | MusterError)[]> => {
    try {
      const { parts, tenant } = await connection.open();
      return await acceptItems(parts, tenant, items);
    } catch (error) {
      throw toMusterError(error);
    }
  };
  return {
    send: async (agent, input, taskOptions = {}) => {
      const [sent] = await send([{ ...taskOptions, agent, input }]);
      if (sent === undefined || sent instanceof MusterError) throw sent ?? new MusterError('internal.error', 'The task got no answer');
      return sent;
    },
    sendMany: send,
    close: () => connection.close(),
  };
}

interface Opened {
  readonly parts: Parts;
  /** The tenant's id, which is another when a tenant of its name was deleted before. */
  readonly tenant: string;
}

/** ProducerConnection is responsible for what a producer opens once, with its first task, so that a failed start is tried again with the next. */
class ProducerConnection {
  readonly #options: ProducerOptions;
  #opening: Promise<Opened> | null = null;
  #isClosed = false;

  constructor(options: ProducerOptions) {
    this.#options = options;
  }

  async open(): Promise<Opened> {
    if (this.#isClosed) throw new MusterError('unavailable.shutting-down', 'The producer is closed');
    this.#opening ??= openProducer(this.#options).catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return await this.#opening;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = await this.#opening?.catch(() => null);
    await opened?.parts.close();
  }
}

async function openProducer({ tenant = DEFAULT_TENANT, logLevel = 'silent', ...options }: ProducerOptions): Promise<Opened> {
  const config = await loadProducerConfig(options);
  const log = createLog({ level: logLevel, service: 'producer' });
  const fail = (error: Error): void => log.error({ err: error }, 'the producer cannot go on');
  const parts = await openParts({ config, log, service: 'producer', fail });
  try {
    await assertServer(parts);
    await assertInstallation(parts);
    return { parts, tenant: idOf(parts, tenant) };
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** Errors: `tenant.not-found`. */
function idOf({ tenants }: Parts, name: string): string {
  const id = name === DEFAULT_TENANT ? name : tenants.find(name)?.id;
  if (id === undefined) throw new MusterError('tenant.not-found', `There is no tenant "${name}"`, { details: { tenant: name } });
  return id;
}
