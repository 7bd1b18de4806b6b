import { z } from 'zod';
import { MusterError } from '../errors/muster-error.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { wait } from '../time/wait.ts';

/** Without a text while somebody is doing it. */
const rememberedSchema = z.object({ digest: z.string(), text: z.string().optional() });

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
  const doing = JSON.stringify({ digest: message.digest });
  for (;;) {
    const known = await lookUp(ledger, tenant, message);
    if (known?.text !== undefined) return known.text;
    if (known === null && (await redis.set(key, doing, 'PX', DOING_MS, 'NX')) === 'OK') break;
    await wait(LOOK_MS);
  }
  const text = await act().catch(async (error: unknown) => {
    await redis.del(key).catch(() => undefined);
    throw error;
  });
  await redis.set(key, JSON.stringify({ digest: message.digest, text }), 'PX', settings.tasks.idempotencyMs);
  return text;
}

async function lookUp({ redis, keys }: Ledger, tenant: string, message: CommandMessage): Promise<z.infer<typeof rememberedSchema> | null> {
  const own = keys.tenant(tenant);
  const [known = null, task = null] = await redis.mget(own.command(message.key), own.idempotency(message.key));
  const remembered = known === null ? null : rememberedSchema.parse(JSON.parse(known));
  if (remembered?.digest === message.digest) return remembered;
  if (remembered === null && task === null) return null;
  throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for another request');
}
