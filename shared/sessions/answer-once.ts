import { z } from 'zod';
import { MusterError } from '../errors/muster-error.ts';
import type { Ledger } from '../ledger/ledger.ts';

const rememberedSchema = z.object({ digest: z.string(), text: z.string() });

/**
 * Does what a message asks for and remembers the answer under the message's key for `tasks.idempotencyMs`, so that the same
 * message again is answered and not done: a `/stop` that comes late a second time must not stop what came after it.
 * When a process dies in between, it is done again. Errors: `task.idempotency-conflict`, also when the key is that of a task.
 */
export async function answerOnce(
  { redis, keys, settings }: Ledger,
  tenant: string,
  message: { key: string; digest: string } | null,
  act: () => Promise<string>,
): Promise<string> {
  if (message === null) return await act();
  const own = keys.tenant(tenant);
  const key = own.command(message.key);
  const [known = null, task = null] = await redis.mget(key, own.idempotency(message.key));
  const remembered = known === null ? null : rememberedSchema.parse(JSON.parse(known));
  if (remembered?.digest === message.digest) return remembered.text;
  if (remembered !== null || task !== null)
    throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for another request');
  const text = await act();
  await redis.set(key, JSON.stringify({ digest: message.digest, text }), 'PX', settings.tasks.idempotencyMs);
  return text;
}
