import type { Redis } from 'ioredis';

/** CPU time that a service's process has used so far, as it says itself. */
export async function cpuSecondsOfService(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}

/** CPU time that Redis has used so far. */
export async function cpuSecondsOfRedis(redis: Redis): Promise<number> {
  const stats = await redis.info('cpu');
  const of = (name: string): number => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(stats)?.[1]);
  return of('used_cpu_user') + of('used_cpu_sys');
}
