import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';

/** The address of the fleet's own Redis: a socket that only its owner may open, or a local port with a password. */
const localRedisAddressSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('socket'), path: z.string() }),
  z.object({ kind: z.literal('port'), port: z.number().int(), password: z.string() }),
]);
export type LocalRedisAddress = z.infer<typeof localRedisAddressSchema>;

/** The path of a socket may have about 104 bytes on macOS and 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 100;

export function socketAddress(directory: string): LocalRedisAddress | null {
  const path = join(directory, 'redis.sock');
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? { kind: 'socket', path } : null;
}

/** A free port with a new password, because each user of the machine can reach a port. */
export async function portAddress(): Promise<LocalRedisAddress> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('A TCP server always has a port');
  return { kind: 'port', port: address.port, password: randomBytes(24).toString('hex') };
}

/** In the form of `REDIS_URL`. */
export function redisUrl(address: LocalRedisAddress): string {
  if (address.kind === 'port') return `redis://:${address.password}@127.0.0.1:${address.port}`;
  return `unix://${address.path.split('/').map(encodeURIComponent).join('/')}`;
}

/** The record of a fleet's Redis, by which the next fleet finds it after a kill. */
const redisRecordSchema = z.object({
  pid: z.number().int(),
  /** From `processStart`. */
  startedAt: z.string(),
  address: localRedisAddressSchema,
});
type RedisRecord = z.infer<typeof redisRecordSchema>;

const fileIn = (directory: string): string => join(directory, 'server.json');

/** Null when there is no readable record. */
export function readRedisRecord(directory: string): RedisRecord | null {
  try {
    return redisRecordSchema.parse(JSON.parse(readFileSync(fileIn(directory), 'utf8')));
  } catch {
    return null;
  }
}

/** Readable by the owner only, because it has the password. */
export function writeRedisRecord(directory: string, record: RedisRecord): void {
  const draft = `${fileIn(directory)}.draft`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  // An existing draft keeps its mode.
  chmodSync(draft, 0o600);
  renameSync(draft, fileIn(directory));
}

export function removeRedisRecord(directory: string): void {
  rmSync(fileIn(directory), { force: true });
}
