import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, statSync, chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createServer } from 'node:net';
import { z } from 'zod';

/** Also fetched by services/local/set-up/provide-redis.mjs. */
const IMAGE = 'redis:7-alpine';

export interface RedisProgram {
  readonly kind: 'server' | 'docker';
  /** The program itself. */
  readonly file: string;
}

export interface RedisCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Sent to its stdin, because each user of the machine could read a password on the command line. */
  readonly config: string;
}

/** Finds redis-server, else Docker, on the PATH `path`; null when there is neither. */
export function findRedisProgram(path: string): RedisProgram | null {
  const server = findOnPath('redis-server', path);
  if (server) return { kind: 'server', file: server };
  const docker = findOnPath('docker', path);
  return docker ? { kind: 'docker', file: docker } : null;
}

function findOnPath(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      // A folder has the same permission.
      if (statSync(file).isFile()) return file;
    } catch {
      continue;
    }
  }
  return null;
}

/** The command for a Redis with its data in `directory` that listens at `address`. Docker supports only a port. */
export function redisCommand(program: RedisProgram, address: LocalRedisAddress, directory: string): RedisCommand {
  if (program.kind === 'server') return { file: program.file, args: ['-'], config: redisConfig(listenHere(address), directory) };
  if (address.kind !== 'port') throw new Error('A Redis in a container is reached by a port');
  return {
    file: program.file,
    args: dockerArgs(address.port, directory),
    config: redisConfig(listenInContainer(address.password), '/data'),
  };
}

function dockerArgs(port: number, directory: string): string[] {
  const name = `muster-redis-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`;
  // It runs as the current user, who then owns the data. The client forwards signals to the server.
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const run = ['run', '--rm', '--interactive', '--name', name, '--user', user, '--publish', `127.0.0.1:${port}:6379`];
  return [...run, '--volume', `${directory}:/data`, IMAGE, 'redis-server', '-'];
}

function listenHere(address: LocalRedisAddress): string[] {
  if (address.kind === 'socket') return ['port 0', `unixsocket ${quoted(address.path)}`, 'unixsocketperm 700'];
  return [`port ${address.port}`, 'bind 127.0.0.1', `requirepass ${address.password}`];
}

/** The published port reaches only a server that listens on all addresses of the container; that port itself is bound to loopback. */
function listenInContainer(password: string): string[] {
  return ['port 6379', 'bind *', `requirepass ${password}`];
}

/** All options are set here, because a redis.conf of the system would decide what survives a restart (Debian's keeps only snapshots). */
function redisConfig(listen: string[], directory: string): string {
  return [
    ...listen,
    'protected-mode yes',
    'daemonize no',
    'supervised no',
    `dir ${quoted(directory)}`,
    `pidfile ${quoted(join(directory, 'redis.pid'))}`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    'loglevel notice',
    '',
  ].join('\n');
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

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
