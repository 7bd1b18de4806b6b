import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { startRedis } from '../../support/redis/start-redis.ts';
import { progress, readOptions } from '../bench-options.ts';
import { HttpFleet } from '../fleets/http-fleet.ts';
import { OurFleet } from '../fleets/our-fleet.ts';
import { inFlight } from '../in-flight.ts';
import { print, printHeading } from '../print.ts';
import { median } from '../statistics.ts';

// What spans cost: CPU time of a task from its request to its end, beside a fleet without, in turn.
const { rounds: ROUNDS, tasks: TASKS } = readOptions({ rounds: 7, tasks: 3000 });
const IN_FLIGHT = 50;
const SLOTS = 200;

const collector = spawn(process.execPath, [fileURLToPath(new URL('../fixtures/span-sink.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.once('exit', () => collector.kill());
const [endpoint] = (await once(createInterface({ input: collector.stdout }), 'line')) as [string];

const VARIANTS = [
  { name: 'without an endpoint', env: {} },
  { name: '10 % of traces', env: traced('parentbased_traceidratio', '0.1') },
  { name: 'no trace', env: traced('parentbased_always_off', '1') },
  { name: 'all traces', env: traced('parentbased_always_on', '1') },
];

function traced(sampler: string, share: string): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER: sampler,
    OTEL_TRACES_SAMPLER_ARG: share,
    OTEL_BSP_MAX_QUEUE_SIZE: '100000',
  };
}

/** CPU time of this process for a task, the client's part in it, in microseconds. */
async function microsOfTask(env: Record<string, string>): Promise<number> {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
  const fleet = await OurFleet.open(server.url, {}, env);
  const http = await HttpFleet.open(fleet.parts, IN_FLIGHT);
  const run = async (count: number): Promise<void> => {
    await inFlight(count, IN_FLIGHT, () => http.accept());
    await fleet.parts.relay.idle();
    await fleet.process(count, SLOTS);
  };
  try {
    await run(TASKS / 5);
    const before = process.cpuUsage();
    await run(TASKS);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / TASKS;
  } finally {
    await http.close();
    await fleet.parts.close();
    await server.stop();
  }
}

const heading = await startRedis();
await printHeading(heading.url, 'What spans cost', [
  `${ROUNDS} interleaved rounds of ${TASKS} tasks through HTTP, client in the same process, run in ${SLOTS} slots; medians. Ratio: of the same round without.`,
]);
await heading.stop();
const figures = new Map<string, number[]>(VARIANTS.map(({ name }) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  progress(`round ${round + 1} of ${ROUNDS}`);
  for (const { name, env } of VARIANTS) figures.get(name)?.push(await microsOfTask(env));
}
const without = figures.get(VARIANTS[0]?.name ?? '') ?? [];
print(`\n${''.padEnd(24)}  µs of CPU a task     more    ratio`);
for (const [name, all] of figures) {
  const more = median(all.map((micros, round) => micros - (without[round] ?? 0)));
  const ratio = median(all.map((micros, round) => micros / (without[round] ?? 1)));
  print(`${name.padEnd(24)}${median(all).toFixed(0).padStart(18)}${more.toFixed(1).padStart(9)}${ratio.toFixed(3).padStart(9)}`);
}
collector.kill();
