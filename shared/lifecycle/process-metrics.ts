import { Counter, Gauge, Registry } from 'prom-client';
import { installedVersion } from '../config/index.ts';
import { commandsSentBy, type RedisClient } from '../redis/index.ts';

/** What this process is, and what it sends to Redis. The HTTP server adds memory, CPU and event loop. */
export function processMetrics(redis: RedisClient, release: string): Registry {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['version', 'release', 'node'];
  const info = new Gauge({ name: 'muster_build_info', help: 'The version that runs', labelNames, registers });
  info.set({ version: installedVersion(), release, node: process.version }, 1);
  const commands = new Counter({
    name: 'muster_redis_commands_total',
    help: "Commands sent to Redis, those of BullMQ's own connections left out",
    registers,
    collect: () => {
      commands.reset();
      commands.inc(commandsSentBy(redis));
    },
  });
  return registry;
}
