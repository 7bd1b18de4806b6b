import { randomBytes, createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { MusterError } from '../errors/index.ts';
import type { Ledger, MessageArrival } from '../ledger/index.ts';
import { loadScripts, type RedisClient, runScript, type Script } from '../redis/index.ts';
import type { Answerer } from '../waits/index.ts';
import { writeOfTenant } from '../tenants/index.ts';
import { Ticker, wait } from '../time/index.ts';
import { canonicalJson, newSessionIdSchema, type ReplyAddress, type TaskRequest } from '../tasks/index.ts';
import type { SessionRight } from './commands.ts';
import type { ModeWord } from './routing.ts';

/** A message as a person wrote it. */
export interface IncomingMessage {
  tenant: string;
  session: string;
  text: string;
  /** The agent that answers; by default the routing chooses. */
  agent?: string;
  /** Where the person writes; by default `webchat`. */
  surface?: string;
  /** Which of the surface's places; by default the surface. */
  channel?: string;
  /** As if `/queue <mode>` stood in the text, which wins. */
  mode?: ModeWord;
  /** Who wrote it, by the surface's own id. */
  user?: string;
  /** Whether that is only what the caller of the API said. */
  isUserClaimed?: true;
  /** The guest of this one session who wrote it, by the id of their token: an answer to it commands nothing in the tenant's name. */
  visitor?: string;
  /** Id of the API key that it came with. */
  keyId?: string;
  /** Who they are to a question of the session; absent for who may answer none. */
  answerer?: Answerer;
  /** The question to whose message it is a reply, by its id. */
  repliesTo?: string;
  /** What the person may not do; by default nothing. */
  denied?: ReadonlySet<SessionRight>;
  /** The surface's own number, which orders the messages; by default they go by arrival. */
  sequence?: number;
  /** How it came, of a chat platform's message. */
  arrival?: MessageArrival;
  context?: TaskRequest['context'];
  attachments?: TaskRequest['attachments'];
  /** The same when the surface sends the message again. */
  idempotencyKey?: string;
  /** Where the answer goes. */
  reply?: ReplyAddress;
  traceparent?: string;
}

/** Throws `request.invalid` for a message without text, or of a session that cannot be one. */
export function assertReadable({ session, text }: IncomingMessage): void {
  const id = newSessionIdSchema.safeParse(session);
  if (!id.success) throw new MusterError('request.invalid', `session: ${id.error.issues[0]?.message ?? 'expected an id'}`);
  if (text.trim() === '') throw new MusterError('request.invalid', 'text: expected something to say');
}

/** What the surface sent, for comparison with a message that comes again under the same key. */
export function digestOf(message: IncomingMessage): string {
  const { session, text, agent, surface, channel, mode, user, visitor, sequence, context, attachments, reply } = message;
  // A platform's files are uploaded anew each time that it sends its message.
  const files = attachments === undefined || reply !== undefined ? [] : [attachments];
  // Only these messages have more elements: a message may come again after an update.
  const by = [...(visitor === undefined ? [] : [visitor]), ...files];
  const sent = canonicalJson([session, text, agent, surface, channel, mode, user, sequence, context, ...by]);
  return createHash('sha256').update(sent).digest('base64url');
}

/** Without a text while a process runs the command. */
const rememberedSchema = z.object({ digest: z.string(), text: z.string().optional() });

let loaded: ReadonlyMap<string, Script> | undefined;

interface CommandMessage {
  key: string;
  digest: string;
}

/** How long a process holds a command without renewing it; after that another process runs it. */
const LOCK_MS = 5000;
const POLL_MS = 50;

/**
 * Runs the command of a message and remembers the answer under the message's key for `tasks.idempotencyMs`. The same message again gets
 * that answer: a repeated `/stop` must not stop what came after it, and of two processes only one runs the command. When a process dies in
 * between, the command runs again. Errors: `task.idempotency-conflict`, also when the key is that of a task.
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
    if (known === null && (await remember(own, ['PX', LOCK_MS, 'NX'])) === 'OK') break;
    await wait(POLL_MS);
  }
  const lock: OwnLock = { redis, key, own };
  const renewing = new Ticker({ everyMs: LOCK_MS / 3, run: () => replaceOwn(lock, own, LOCK_MS), onError: () => undefined });
  renewing.start();
  try {
    const text = await act();
    await replaceOwn(lock, JSON.stringify({ digest: message.digest, text }), settings.tasks.idempotencyMs);
    return text;
  } catch (error) {
    await replaceOwn(lock, '', 0).catch(() => undefined);
    throw error;
  } finally {
    void renewing.stop();
  }
}

/** The value that says that this process runs the command. */
interface OwnLock {
  redis: RedisClient;
  key: string;
  own: string;
}

/** A process that was frozen past its lock must not overwrite another's lock or answer. */
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
