import { Redis } from 'ioredis';
import { availableParallelism, cpus, loadavg } from 'node:os';

/** Writes a line of a bench's table. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Explains what is measured, and on which machine, to a reader who sees the figures for the first time. */
export async function printHeading(redisUrl: string, title: string, lines: readonly string[], persistence = 'AOF everysec'): Promise<void> {
  const redis = new Redis(redisUrl);
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1];
  redis.disconnect();
  print(`\n== ${title}\n`);
  for (const line of lines) print(line);
  print(`${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, Redis ${version}, ${persistence}.`);
  print(`Load of the machine before: ${(loadavg()[0] ?? 0).toFixed(1)}. Others' work on it makes every figure worse.`);
}
