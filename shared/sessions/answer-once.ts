import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';
import { writeOfTenant } from '../tenants/index.ts';
import { wait } from '../time/index.ts';

/** Without a text while somebody is doing it. */
const rememberedSchema = z.object({ digest: z.string(), text: z.string().optional() });

let loaded: ReadonlyMap<string, Script> | undefined;

interface CommandMessage {
  key: string;
  digest: string;
}

/** How long whoever does it is waited for; when a process dies over it, the next one does it after that. */
const DOING_MS = 5000;
const LOOK_MS = 50;

/**
 * Does what a message asks for and remembers the answer under the message's key for `tasks.idempotencyMs`, so that the same
 * message again is answered and not done: a `/stop` that comes late a second time must not stop what came after it, and one that
 * comes to two processes at once must not be answered by the one that found nothing left to stop.
 * When a process dies in between, it is done again. Errors: `task.idempotency-conflict`, also when the key is that of a task.
 */
export async function answerOnce(
  ledger: Ledger,
  tenant: string,
  message: CommandMessage | null,
  act: () => Promise<string>,
): Promise<string> {
  if (message === null) return await act();
  const { redis, keys, settings } = ledger;
  const key = keys.tenant(tenant).command(message.key);
  const remember = async (value: string, options: (string | number)[]): Promise<unknown> =>
    await writeOfTenant(ledger, { tenant, key, command: ['SET', value, ...options] });
  const own = JSON.stringify({ digest: message.digest, holder: randomBytes(8).toString('hex') });
  for (;;) {
    const known = await lookUp(ledger, tenant, message);
    if (known?.text !== undefined) return known.text;
    if (known === null && (await remember(own, ['PX', DOING_MS, 'NX'])) === 'OK') break;
    await wait(LOOK_MS);
  }
  const lock: OwnLock = { redis, key, own };
  const renewing = setInterval(() => void replaceOwn(lock, own, DOING_MS).catch(() => undefined), DOING_MS / 3);
  try {
    const text = await act();
    await replaceOwn(lock, JSON.stringify({ digest: message.digest, text }), settings.tasks.idempotencyMs);
    return text;
  } catch (error) {
    await replaceOwn(lock, '', 0).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

/** What says that this process is doing it. */
interface OwnLock {
  redis: RedisClient;
  key: string;
  own: string;
}

/** Whoever was frozen past its lock changes nothing of what another process does or has answered by now. */
async function replaceOwn({ redis, key, own }: OwnLock, value: string, keepMs: number): Promise<void> {
  loaded ??= loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));
  const script = loaded.get('replace-own');
  if (!script) throw new Error('There is no script replace-own');
  await runScript(redis, script, [key], [own, value, keepMs]);
}

async function lookUp({ redis, keys }: Ledger, tenant: string, message: CommandMessage): Promise<z.infer<typeof rememberedSchema> | null> {
  const own = keys.tenant(tenant);
  const [known = null, task = null] = await redis.mget(own.command(message.key), own.idempotency(message.key));
  const remembered = known === null ? null : rememberedSchema.parse(JSON.parse(known));
  if (remembered?.digest === message.digest) return remembered;
  if (remembered === null && task === null) return null;
  throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for another request');
}
