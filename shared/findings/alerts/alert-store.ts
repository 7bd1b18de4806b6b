import { type Keys, readRecords, type RedisClient } from '../../redis/index.ts';
import { type KeptAlert, keptAlertSchema } from './alert.ts';

interface StorePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** The alerts that fire. What another release wrote is left out. */
export async function readAlerts({ redis, keys }: StorePorts): Promise<KeptAlert[]> {
  const stored = await redis.hgetall(keys.fleet.alerts);
  return readRecords(Object.entries(stored), (text): KeptAlert => keptAlertSchema.parse(JSON.parse(text))).items;
}

/** Notes that alerts were sent as firing. */
export async function keepAlerts({ redis, keys }: StorePorts, alerts: readonly KeptAlert[]): Promise<void> {
  if (alerts.length > 0) await redis.hset(keys.fleet.alerts, ...alerts.flatMap((each) => [each.alert.id, JSON.stringify(each)]));
}

/** Notes that they were sent as resolved. */
export async function dropAlerts({ redis, keys }: StorePorts, alerts: readonly KeptAlert[]): Promise<void> {
  if (alerts.length > 0) await redis.hdel(keys.fleet.alerts, ...alerts.map(({ alert }) => alert.id));
}
