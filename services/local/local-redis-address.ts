import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';

/** Where the fleet's own Redis listens: a socket that only its owner may open, or a port of this machine behind a password. */
export const localRedisAddressSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('socket'), path: z.string() }),
  z.object({ kind: z.literal('port'), port: z.number().int(), password: z.string() }),
]);
export type LocalRedisAddress = z.infer<typeof localRedisAddressSchema>;

/** The kernel takes about 104 bytes of a socket's path on macOS and 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 100;

export function socketAddress(directory: string): LocalRedisAddress | null {
  const path = join(directory, 'redis.sock');
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? { kind: 'socket', path } : null;
}

/** A port that nobody listens on right now, and a new password, since any user of the machine can reach a port. */
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

/** As `REDIS_URL` says it. */
export function redisUrl(address: LocalRedisAddress): string {
  if (address.kind === 'port') return `redis://:${address.password}@127.0.0.1:${address.port}`;
  return `unix://${address.path.split('/').map(encodeURIComponent).join('/')}`;
}
