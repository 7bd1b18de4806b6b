import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { assertAgents } from '#shared/agents/assert-agents.ts';
import { createAgentRunners } from '#shared/agents/create-agent-runners.ts';
import { readVariable } from '#shared/config/read-variable.ts';
import { tellFleet } from '#shared/events/tell-fleet.ts';
import { outboxEntry } from '#shared/ledger/outbox-entry.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { slotsOf } from '#shared/queue/queue-names.ts';
import { parseTicketId } from '#shared/queue/ticket-of-state.ts';
import { TicketWorker } from '#shared/queue/ticket-worker.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { systemClock } from '#shared/time/clock.ts';
import { openChores } from './chores/open-chores.ts';
import { handleTicket, type HandleTicketParts } from './handle-ticket.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Reclaimer } from './reclaimer.ts';
import { listenForSignals } from './signal-listener.ts';
import { WorkerService, type JobTaker } from './worker-service.ts';

/** Runs agents: takes tickets, claims their tasks, and settles what became of them. */
export function createWorkerService(parts: Parts): Service {
  const { config, log, ledger } = parts;
  // The ledger's short states separate by spaces.
  const name = `${hostname().replaceAll(/\s/g, '-')}-${process.pid}-${randomBytes(2).toString('hex')}`;
  const keeper = new LeaseKeeper({ ledger, clock: systemClock, log });
  const fleet = { redis: parts.redis, keys: parts.keys, settings: config.settings };
  let isDraining = false;
  const handling: HandleTicketParts = {
    ledger,
    keeper,
    clock: systemClock,
    log,
    worker: name,
    catalog: parts.catalog,
    runners: openRunners(parts),
    schedules: openScheduleParts(parts),
    graceMs: config.settings.worker.cancelGraceMs,
    isDraining: () => isDraining,
  };
  return new WorkerService({
    name,
    check: () => assertAgents(config, readVariable),
    keeper,
    reclaimer: new Reclaimer({ ...parts, onLost: (worker) => void tellFleet(fleet, 'worker.lost', worker) }),
    connect: () => connectRedis({ url: config.env.REDIS_URL, name: 'worker', log, role: 'blocking' }),
    openTakers: (connection) => [...openTicketWorkers(parts, handling, connection), ...openChores(parts, connection)],
    listen: () => listen(parts, keeper),
    onDrain: () => {
      isDraining = true;
    },
    tell: (event) => tellFleet(fleet, event, name),
    clock: systemClock,
    log,
  });
}

function openRunners({ config }: Parts): ReturnType<typeof createAgentRunners> {
  return createAgentRunners({
    directory: config.directory,
    openaiBaseUrl: config.env.OPENAI_BASE_URL,
    openaiApiKey: config.env.OPENAI_API_KEY,
    readSecret: readVariable,
    allowNetworks: config.settings.outbound.allowNetworks,
    maxResponseBytes: config.settings.outbound.maxResponseBytes,
    operatorAgents: config.settings.agents,
  });
}

/** One for each queue it serves and each shard. */
function openTicketWorkers({ config, keys, redis, log }: Parts, handling: HandleTicketParts, connection: RedisClient): JobTaker[] {
  const served = [...slotsOf(config.settings, config.env.MUSTER_QUEUES)].filter(([queue, slots]) => slots > 0 && queue !== 'maintenance');
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const acknowledge = async (shard: number, entry: string): Promise<void> => {
    try {
      await redis.zrem(keys.shard(shard).outbox, entry);
    } catch (error) {
      log.debug({ err: error }, 'an outbox entry stays; its ticket comes twice');
    }
  };
  return shards.flatMap((shard) =>
    served.map(
      ([queue, slots]) =>
        new TicketWorker({
          queue,
          slots,
          settings: config.settings,
          connection,
          prefix: keys.shard(shard).queues,
          handle: (ticket) => handleTicket(handling, ticket),
          onReturned: (id, { tenant }) => acknowledge(shard, outboxEntry(tenant, [parseTicketId(id)])),
          log,
        }),
    ),
  );
}

function listen({ config, keys, log }: Parts, keeper: LeaseKeeper): { close(): void } {
  const subscriber = connectRedis({ url: config.env.REDIS_URL, name: 'worker-signals', log, role: 'subscriber' });
  const onStop = (member: string): void =>
    void keeper.look(member).catch((error: unknown) => log.debug({ err: error }, 'a stop is seen at the next renewal'));
  return listenForSignals({ subscriber, keys, log, onStop, onInput: (member) => keeper.tellOfInput(member) });
}
