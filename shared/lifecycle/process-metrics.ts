import { Counter, Gauge, Registry } from 'prom-client';
import { installedVersion } from '../config/index.ts';
import type { Traces } from '../log/index.ts';
import { commandsSentBy, type RedisClient } from '../redis/index.ts';

/** What this process is, and what it sends to Redis. The HTTP server adds memory, CPU and event loop. */
export function processMetrics(redis: RedisClient, release: string, traces?: Traces): Registry {
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
  addSpanCounts(traces?.counts ?? NO_SPANS, registers);
  return registry;
}

const NO_SPANS = { sent: 0, refused: 0, dropped: 0 };

function addSpanCounts(counts: Traces['counts'], registers: Registry[]): void {
  const spans = new Counter({
    name: 'muster_trace_spans_total',
    help: 'Spans by what became of them: sent, refused by the collector, or dropped because too many wait for it',
    labelNames: ['outcome'],
    registers,
    collect: () => {
      spans.reset();
      for (const [outcome, count] of Object.entries(counts)) spans.inc({ outcome }, count);
    },
  });
}
