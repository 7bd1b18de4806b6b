import { createHash } from 'node:crypto';
import { MusterError } from '../errors/index.ts';
import { type Accepted, type AcceptRequest, acceptTask, type Intake } from '../queue/index.ts';
import { canonicalJson, type ReplyAddress, sessionIdSchema, type TaskRequest } from '../tasks/index.ts';
import { answerOnce } from './answer-once.ts';
import { chooseAgent, chooseMode, DEFAULT_SURFACE } from './routing.ts';
import { createCommands, type SessionCommand, type SessionRight } from './commands.ts';
import { describeMode, HOW_TO_CHOOSE } from './describe-session.ts';
import { parseMessage, type ModeWord, type ParsedMessage } from './parse-message.ts';
import { notifySession, readChoices, setMode, setSurface, touchChoices } from './session-store.ts';

export interface MessageParts extends Intake {
  /** Commands of others, by name without the slash. */
  readonly commands?: Readonly<Record<string, SessionCommand>>;
}

/** A message as a person wrote it. */
export interface IncomingMessage {
  tenant: string;
  session: string;
  text: string;
  /** Who is to answer; by default whom the routing chooses. */
  agent?: string;
  /** Where the person writes; by default `webchat`. */
  surface?: string;
  /** Which of the surface's places; by default the surface. */
  channel?: string;
  /** As if `/queue <mode>` stood in the text, which wins. */
  mode?: ModeWord;
  /** Who wrote it, by the surface's own id. */
  user?: string;
  /** The guest of this one session who wrote it, by the id of their token: an answer to it commands nothing in the tenant's name. */
  visitor?: string;
  /** What the person may not do; by default nothing. */
  denied?: ReadonlySet<SessionRight>;
  /** The surface's own number, which orders the messages; by default they go by arrival. */
  sequence?: number;
  context?: TaskRequest['context'];
  /** The same when the surface sends the message again. */
  idempotencyKey?: string;
  /** Where the answer goes. */
  reply?: ReplyAddress;
  traceparent?: string;
}

/** A message became a task, or was a command that was carried out. */
export type MessageAnswer = { kind: 'accepted'; accepted: Accepted } | { kind: 'command'; command: string; text: string };

/**
 * Takes a message of a session. A command is carried out at once, whatever runs; all else is accepted as a task of the session,
 * in its mode. The same message again under its key is answered like the first time and does nothing.
 * Errors: `request.invalid` (no text, or a session that cannot be one), and those of `acceptTask`.
 */
export async function acceptMessage(parts: MessageParts, message: IncomingMessage): Promise<MessageAnswer> {
  assertReadable(message);
  const parsed = parseMessage(message.text);
  if (parsed.kind === 'text') return await acceptAsTask(parts, message, parsed.text, parsed.mode);
  const carryOut = commandOf(parts, message, parsed);
  if (!carryOut) return await acceptAsTask(parts, message, message.text, null);
  const { tenant, session } = message;
  const key = message.idempotencyKey === undefined ? null : { key: message.idempotencyKey, digest: digestOf(message) };
  const text = await answerOnce(parts.ledger, tenant, key, carryOut);
  parts.log.info({ event: 'session.command', tenant, session, command: nameOf(parsed) }, 'a command was carried out');
  notifySession(parts.ledger, tenant, session);
  return { kind: 'command', command: nameOf(parsed), text };
}

function assertReadable({ session, text }: IncomingMessage): void {
  const id = sessionIdSchema.safeParse(session);
  if (!id.success) throw new MusterError('request.invalid', `session: ${id.error.issues[0]?.message ?? 'expected an id'}`);
  if (text.trim() === '') throw new MusterError('request.invalid', 'text: expected something to say');
}

type ParsedCommand = Exclude<ParsedMessage, { kind: 'text' }>;

function nameOf(parsed: ParsedCommand): string {
  return parsed.kind === 'command' ? parsed.name : 'queue';
}

/** What the command does; null for a word that is no command here and belongs to the agent. */
function commandOf(parts: MessageParts, message: IncomingMessage, parsed: ParsedCommand): (() => Promise<string>) | null {
  if (parsed.kind === 'mode') return permitted(message, 'steer', () => chooseSessionMode(parts, message, parsed.mode));
  if (parsed.kind === 'unknown-mode')
    return () => Promise.resolve(`"${parsed.word.slice(0, 50)}" is no mode, and nothing was sent to the agent. ${HOW_TO_CHOOSE}`);
  const command = createCommands(parts.ledger, parts.commands ?? {}).get(parsed.name);
  if (!command) return null;
  return permitted(message, command.needs, async () => {
    const { tenant, session, user = null, surface = DEFAULT_SURFACE, channel = null, reply = null } = message;
    const agent = await chooseAgent(parts, { ...message, surface });
    const idempotencyKey = message.idempotencyKey ?? null;
    return await command.run({ tenant, session, user, surface, channel, agent, argument: parsed.argument, reply, idempotencyKey });
  });
}

const NEEDED: Readonly<Record<SessionRight, string>> = { schedule: 'make or change schedules', steer: 'stop or steer what runs' };

/** The command, or the answer that the person may not have it carried out. */
function permitted({ denied }: IncomingMessage, needed: SessionRight | undefined, act: () => Promise<string>): () => Promise<string> {
  if (needed === undefined || denied?.has(needed) !== true) return act;
  return () => Promise.resolve(`You may not ${NEEDED[needed]} here.`);
}

async function chooseSessionMode({ ledger }: MessageParts, message: IncomingMessage, word: ModeWord): Promise<string> {
  const { tenant, session, surface = DEFAULT_SURFACE } = message;
  await setMode(ledger, tenant, session, word === 'default' ? null : word);
  const choices = await readChoices(ledger, tenant, session);
  return describeMode(chooseMode(ledger.settings, { inline: null, choices, surface }), surface);
}

async function acceptAsTask(parts: MessageParts, message: IncomingMessage, text: string, word: ModeWord | null): Promise<MessageAnswer> {
  const { tenant, session, surface = DEFAULT_SURFACE } = message;
  const { ledger } = parts;
  const [choices, agent] = await Promise.all([
    touchChoices(ledger, tenant, session),
    chooseAgent(parts, { ...message, surface }),
    assertNoCommand(ledger, message),
  ]);
  if (surface !== (choices.surface ?? DEFAULT_SURFACE)) await setSurface(ledger, tenant, session, surface);
  const inline = message.denied?.has('steer') === true ? 'collect' : (word ?? message.mode ?? null);
  const { mode } = chooseMode(ledger.settings, { inline, choices, surface });
  const accepted = await acceptTask(parts, {
    tenant,
    session,
    agent,
    input: text,
    source: 'chat',
    channel: message.channel ?? surface,
    mode,
    // What the surface sent is compared, not what was made of it: a mode chosen in between must not make it another message.
    idempotencyBody: digestOf(message),
    ...fieldsOf(message),
  });
  notifySession(ledger, tenant, session);
  return { kind: 'accepted', accepted };
}

/** Tasks are found by their keys when they are accepted; commands are remembered elsewhere. */
async function assertNoCommand({ redis, keys }: MessageParts['ledger'], { tenant, idempotencyKey }: IncomingMessage): Promise<void> {
  if (idempotencyKey === undefined || (await redis.exists(keys.tenant(tenant).command(idempotencyKey))) === 0) return;
  throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for a command');
}

/** Stands for the token of a person without one, who could talk an agent into writing what the person may not do. */
const GUEST = 'guest';

function visitorOf({ visitor, denied }: IncomingMessage): string | undefined {
  return visitor ?? (denied?.has('schedule') === true ? GUEST : undefined);
}

/** What the task takes from the message as it is; an exact optional property takes no undefined. */
function fieldsOf(message: IncomingMessage): Partial<AcceptRequest> {
  const { user, sequence, context, idempotencyKey, reply, traceparent } = message;
  const visitor = visitorOf(message);
  return {
    ...(user === undefined ? {} : { user }),
    ...(visitor === undefined ? {} : { visitor }),
    ...(sequence === undefined ? {} : { order: sequence }),
    ...(context === undefined ? {} : { context }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(reply === undefined ? {} : { reply }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function digestOf({ session, text, agent, surface, channel, mode, user, visitor, sequence, context }: IncomingMessage): string {
  // Without a visitor as ever: a message may come again after an update.
  const by = visitor === undefined ? [] : [visitor];
  const said = canonicalJson([session, text, agent, surface, channel, mode, user, sequence, context, ...by]);
  return createHash('sha256').update(said).digest('base64url');
}
