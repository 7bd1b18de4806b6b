import { recordAudit } from '../audit/index.ts';
import { MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { type Accepted, type AcceptRequest, acceptTask, type Intake } from '../queue/index.ts';
import { findAnswer, giveAnswer, givePressed, type PressedChoice } from './answer-in-session.ts';
import { answerOnce, assertReadable, digestOf, type IncomingMessage } from './incoming-message.ts';
import { type CommandAnswer, createCommands, type SessionCall, type SessionCommand, type SessionRight } from './commands.ts';
import { describeMode, HOW_TO_CHOOSE } from './describe-session.ts';
import { chooseAgent, chooseMode, DEFAULT_SURFACE, type ModeWord, type ParsedMessage, parseMessage } from './routing.ts';
import { notifySession, readChoices, setMode, setSurface, touchChoices } from './session-store.ts';

export interface MessageParts extends Intake {
  /** Commands of others, by name without the slash. */
  readonly commands?: Readonly<Record<string, SessionCommand>>;
}

/** The message became a task, or it was a command and ran. */
export type MessageAnswer = { kind: 'accepted'; accepted: Accepted } | { kind: 'command'; command: string; text: string };

/**
 * Handles a message of a session. A command runs at once, whatever else runs; every other text is accepted as a task of the session, in its
 * mode. The same message again under its key gets the first answer and does nothing. Errors: `request.invalid` (no text, or an invalid
 * session id), and the errors of `acceptTask`.
 */
export async function handleMessage(parts: MessageParts, message: IncomingMessage): Promise<MessageAnswer> {
  assertReadable(message);
  const parsed = parseMessage(message.text);
  if (parsed.kind === 'text') return await answerOrAccept(parts, message, parsed);
  const command = findCommand(parts, parsed);
  // A word that only looks like a command belongs to the agent.
  if (command === undefined) return await acceptText(parts, message, message.text, null);
  return await answerCommand(parts, message, parsed, command);
}

type ParsedText = Extract<ParsedMessage, { kind: 'text' }>;

/** A text may be the answer to the open question of its session. */
async function answerOrAccept(parts: MessageParts, message: IncomingMessage, { text, mode }: ParsedText): Promise<MessageAnswer> {
  const { ledger } = parts;
  const found = await findAnswer(ledger, message);
  // What answered once, and comes again, gets the same reply.
  if (found === null && !(await isRepeatedAnswer(ledger, message))) return await acceptText(parts, message, text, mode);
  const run = async (): Promise<CommandAnswer> => (found === null ? { text: '', change: null } : await giveAnswer(ledger, message, found));
  return await answerCommand(parts, message, { kind: 'command', name: 'answer', argument: text }, { run });
}

/** Answers a question by a button of a chat, and says so. The same press again gets the first reply. */
export async function answerByButton(parts: MessageParts, message: IncomingMessage, pressed: PressedChoice): Promise<{ text: string }> {
  const run = (): Promise<CommandAnswer> => givePressed(parts.ledger, message, pressed);
  return await answerCommand(parts, message, { kind: 'command', name: 'answer', argument: `${pressed.number}` }, { run });
}

async function isRepeatedAnswer({ redis, keys }: Ledger, { tenant, answerer, idempotencyKey }: IncomingMessage): Promise<boolean> {
  if (answerer === undefined || idempotencyKey === undefined) return false;
  return (await redis.exists(keys.tenant(tenant).command(idempotencyKey))) === 1;
}

type ParsedCommand = Exclude<ParsedMessage, { kind: 'text' }>;
type Runnable = Pick<SessionCommand, 'needs' | 'run'>;

interface CommandCall {
  readonly name: string;
  readonly argument: string;
}

function findCommand({ ledger, queues, commands = {} }: MessageParts, parsed: ParsedCommand): Runnable | undefined {
  if (parsed.kind === 'mode') return { needs: 'steer', run: (call) => chooseSessionMode(ledger, call, parsed.mode) };
  if (parsed.kind === 'unknown-mode') return { run: () => Promise.resolve(describeUnknownMode(parsed.word)) };
  return createCommands({ ledger, queues }, commands).get(parsed.name);
}

async function chooseSessionMode(ledger: Ledger, { tenant, session, surface }: SessionCall, word: ModeWord): Promise<string> {
  await setMode(ledger, tenant, session, word === 'default' ? null : word);
  const choices = await readChoices(ledger, tenant, session);
  return describeMode(chooseMode(ledger.settings, { inline: null, choices, surface }), surface);
}

function describeUnknownMode(word: string): string {
  return `"${word.slice(0, 50)}" is no mode, and nothing was sent to the agent. ${HOW_TO_CHOOSE}`;
}

async function answerCommand(
  parts: MessageParts,
  message: IncomingMessage,
  parsed: ParsedCommand,
  command: Runnable,
): Promise<Extract<MessageAnswer, { kind: 'command' }>> {
  const { tenant, session, idempotencyKey } = message;
  const [name, argument] = parsed.kind === 'command' ? [parsed.name, parsed.argument] : ['queue', ''];
  const key = idempotencyKey === undefined ? null : { key: idempotencyKey, digest: digestOf(message) };
  const text = await answerOnce(parts.ledger, tenant, key, () => runCommand(parts, message, command, { name, argument }));
  parts.log.info({ event: 'session.command', tenant, session, command: name }, 'a command ran');
  notifySession(parts.ledger, tenant, session);
  return { kind: 'command', command: name, text };
}

const RIGHT_TO: Readonly<Record<SessionRight, string>> = { schedule: 'make or change schedules', steer: 'stop or steer what runs' };

/** Runs a command for who may; one that changes something is an entry of the audit log. */
async function runCommand(parts: MessageParts, message: IncomingMessage, command: Runnable, call: CommandCall): Promise<string> {
  const { needs } = command;
  const action = `${call.name.charAt(0).toUpperCase()}${call.name.slice(1)}`;
  const record = (result: Partial<Change>): Promise<void> =>
    auditCommand(parts, message, { action, object: `sessions/${message.session}`, outcome: 'done', code: null, ...result });
  if (needs !== undefined && message.denied?.has(needs) === true) {
    await record({ outcome: 'refused', code: 'auth.forbidden' });
    return `You may not ${RIGHT_TO[needs]} here.`;
  }
  try {
    const { text, change } = await runFor(parts, message, command, call.argument);
    if (change !== null) await record(change);
    return text;
  } catch (error) {
    if (needs !== undefined) await record({ outcome: 'failed', code: error instanceof MusterError ? error.code : 'internal.error' });
    throw error;
  }
}

type Change = NonNullable<CommandAnswer['change']>;

/** What a command answers. One that needs a right, and does not say what it changed, changed its session. */
interface RanCommand {
  text: string;
  change: Partial<Change> | null;
}

async function runFor(parts: MessageParts, message: IncomingMessage, command: Runnable, argument: string): Promise<RanCommand> {
  const { tenant, session, surface = DEFAULT_SURFACE, channel = null, reply = null, idempotencyKey = null, answerer = null } = message;
  // What a command makes has the user who is known, and no other.
  const user = message.isUserClaimed === true ? null : (message.user ?? null);
  const agent = await chooseAgent(parts, { ...message, surface });
  const answer = await command.run({ tenant, session, user, surface, channel, agent, argument, answerer, reply, idempotencyKey });
  return typeof answer === 'string' ? { text: answer, change: command.needs === undefined ? null : {} } : answer;
}

async function auditCommand(
  { ledger, log }: MessageParts,
  { tenant, user, visitor, keyId, surface = DEFAULT_SURFACE }: IncomingMessage,
  { action, ...change }: Change,
): Promise<void> {
  const { redis, keys, settings } = ledger;
  const kind = visitor === undefined ? (keyId === undefined ? 'chat' : 'key') : 'visitor';
  const id = visitor ?? keyId ?? user ?? 'unknown';
  await recordAudit({ redis, keys, settings, log }, tenant, {
    actor: { kind, id, name: user ?? id },
    via: 'chat',
    from: surface,
    action: `chat${action}`,
    fields: [],
    ...change,
  });
}

/** `word`: the mode that the text names itself. */
async function acceptText(parts: MessageParts, message: IncomingMessage, text: string, word: ModeWord | null): Promise<MessageAnswer> {
  const { tenant, session, surface = DEFAULT_SURFACE } = message;
  const { ledger } = parts;
  const [choices, agent] = await Promise.all([
    touchChoices(ledger, tenant, session),
    chooseAgent(parts, { ...message, surface }),
    assertNoCommand(ledger, message),
  ]);
  if (surface !== (choices.surface ?? DEFAULT_SURFACE)) await setSurface(ledger, tenant, session, surface);
  const canSteer = message.denied?.has('steer') !== true;
  const { mode } = chooseMode(ledger.settings, { inline: word ?? message.mode ?? null, canSteer, choices, surface });
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
    ...optionalFields(message),
  });
  notifySession(ledger, tenant, session);
  return { kind: 'accepted', accepted };
}

/** Tasks are found by their keys when they are accepted; commands are remembered elsewhere. */
async function assertNoCommand({ redis, keys }: Ledger, { tenant, idempotencyKey }: IncomingMessage): Promise<void> {
  if (idempotencyKey === undefined || (await redis.exists(keys.tenant(tenant).command(idempotencyKey))) === 0) return;
  throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for a command');
}

/** Stands for the token of a person without one, who could talk an agent into writing what the person may not do. */
const GUEST = 'guest';

function visitorOf({ visitor, denied }: IncomingMessage): string | undefined {
  return visitor ?? (denied?.has('schedule') === true ? GUEST : undefined);
}

function senderOf(message: IncomingMessage): Partial<AcceptRequest> {
  const { user, isUserClaimed } = message;
  const visitor = visitorOf(message);
  return {
    ...(user === undefined ? {} : { user }),
    ...(isUserClaimed === undefined ? {} : { isUserClaimed }),
    ...(visitor === undefined ? {} : { visitor }),
  };
}

/** What the task has from the message as it is; an exact optional property refuses undefined. */
function optionalFields(message: IncomingMessage): Partial<AcceptRequest> {
  const { sequence, arrival, context, attachments, idempotencyKey, reply, traceparent, keyId } = message;
  return {
    ...senderOf(message),
    ...(keyId === undefined ? {} : { keyId }),
    ...(sequence === undefined ? {} : { order: sequence }),
    ...(arrival === undefined ? {} : { arrival }),
    ...(context === undefined ? {} : { context }),
    ...(attachments === undefined ? {} : { attachments }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(reply === undefined ? {} : { reply }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
