import { z } from 'zod';
import { modelNameSchema, workspaceSchema } from '../config/index.ts';
import { parseJson, parseMessage, type Parsed } from './parse-message.ts';

/** The version that a daemon states in its first message. */
export const PROTOCOL = 1;

/** Why the hub closes a connection; WebSocket leaves 4000 to 4999 to applications. */
export const CLOSE_CODES = {
  /** The hub restarts: connect again, and another one answers. */
  restart: 1012,
  /** Its messages broke a bound: too large, too many, or not read. */
  policy: 1008,
  tooLarge: 1009,
  /** Its token is not valid any more. */
  tokenGone: 4401,
  /** It sent no heartbeat, or no hello. */
  noHeartbeat: 4408,
  /** The same daemon has a newer connection. */
  takenOver: 4409,
} as const;

const short = z.string().min(1).max(200);
const taskId = z.string().min(1).max(64);
const token = z.int().min(1);
const text = z.string();
const attempt = { taskId, token };
const attempts = z.array(z.object(attempt)).max(1000).default([]);
const jsonObject = z.record(z.string(), z.unknown());
const count = z.int().min(0);

/** Models that one usage has apart: each has a part of the task's record, of which lists have many. */
export const MAX_MODELS = 50;

/** Tokens, or millionths of a US dollar, of one attempt. The sum of many stays an integer that a number can hold. */
export const MAX_AMOUNT = 1e12;
const amount = z.int().min(0).max(MAX_AMOUNT);

const modelUsage = {
  /** All input tokens, cached ones included. */
  inputTokens: amount.default(0),
  /** All output tokens, reasoning included. */
  outputTokens: amount.default(0),
  cachedInputTokens: amount.optional(),
  reasoningTokens: amount.optional(),
  /** Without it the hub takes the price of the model, where it has one. */
  costMicroUsd: amount.optional(),
  model: modelNameSchema.optional(),
  isEstimated: z.boolean().optional(),
};

/**
 * All that an attempt has used. Where it used several models, `byModel` has each and counts alone: the other fields are the sum then, for hubs of
 * an older version, which know neither `byModel` nor cached tokens.
 */
const usage = z.object({ ...modelUsage, byModel: z.array(z.object(modelUsage)).max(MAX_MODELS).optional() });

const later = {
  /** When trying again makes sense, ms from now. */
  retryAfterMs: z.number().min(0).nullish(),
  /** The limit of an account is over then: ISO 8601, or seconds or milliseconds since the epoch. */
  until: z.union([z.string().max(100), z.number()]).nullish(),
};

const failure = z.object({
  ...later,
  code: z.string().regex(/^[\w.:-]{1,64}$/),
  message: text.default(''),
  retryable: z.boolean().nullish(),
  details: jsonObject.nullish(),
});

const attachment = z.object({ name: short, mediaType: short, bytes: count, url: z.string().max(4000) });

/**
 * What attempts before left, JSON of what their run waited for last, and where the next checkpoint is kept, with the header `Muster-Attempt-Key`.
 * `askMs`: how long the hub waits for the answer to a `task.ask`; absent where it takes none.
 */
const checkpoint = z.object({ text: text.nullish(), resumed: text.nullish(), url: text, key: text, askMs: count.nullish() });

/** What a daemon keeps for the next run in a session, or of a task without one: bytes on its disk, and what was changed in a checkout (`git diff --stat`). */
const workspaceLeft = z.object({ bytes: count, changes: text.nullish() });

/** A working folder on the disk of a daemon. */
const keptWorkspace = z.object({ agent: short, session: short.nullish(), taskId });

/** Working folders that one message names. */
export const MAX_WORKSPACES = 100;
const keptWorkspaces = z.array(keptWorkspace).max(MAX_WORKSPACES);

/** Tasks that a daemon may declare to run at once. */
const MAX_SLOTS = 10_000;

/** What a daemon sends to the hub. Lengths of texts are bounded by `hub.maxMessageBytes`. */
const DAEMON_MESSAGES = {
  'daemon.hello': z.object({
    type: z.literal('daemon.hello'),
    protocol: z.int().min(1),
    name: short,
    capabilities: z.array(short).max(100).default([]),
    slots: z.int().min(1, `expected how many tasks it may run at once, from 1 to ${MAX_SLOTS}`).max(MAX_SLOTS),
    version: short.nullish(),
    host: short.nullish(),
    /** The agents that it runs; without the list it runs any. */
    agents: z.array(short).max(1000).nullish(),
    running: attempts,
    finished: attempts,
  }),
  'daemon.heartbeat': z.object({
    type: z.literal('daemon.heartbeat'),
    load: z.number().min(0).max(1).default(0),
    memoryMb: z.number().min(0).nullish(),
    /** Takes no more tasks, and ends those that it runs. */
    isDraining: z.boolean().default(false),
  }),
  'task.accepted': z.object({ type: z.literal('task.accepted'), ...attempt }),
  'task.progress': z.object({
    type: z.literal('task.progress'),
    ...attempt,
    note: text,
    percent: z.number().min(0).max(100).nullish(),
  }),
  /** All that the attempt has used so far. Hubs of an older version do not know it. */
  'task.usage': z.object({ type: z.literal('task.usage'), ...attempt, usage }),
  'task.output': z.object({ type: z.literal('task.output'), ...attempt, seq: z.int().min(1), text }),
  /** Have people asked what its checkpoint suspends the run for, while it goes on. `seq` counts from 1; the same is the same question. */
  'task.ask': z.object({ type: z.literal('task.ask'), ...attempt, seq: z.int().min(1) }),
  'task.completed': z.object({
    type: z.literal('task.completed'),
    ...attempt,
    output: text.nullish(),
    result: z.unknown().optional(),
    usage: usage.nullish(),
    workspace: workspaceLeft.nullish(),
  }),
  'task.failed': z.object({
    type: z.literal('task.failed'),
    ...attempt,
    error: failure,
    usage: usage.nullish(),
    workspace: workspaceLeft.nullish(),
    ...later,
  }),
  /** The working folders that it keeps, some at a time: the hub answers with those that it is to remove. */
  'workspaces.kept': z.object({ type: z.literal('workspaces.kept'), kept: keptWorkspaces }),
} as const;

/** What the hub sends to a daemon. */
const HUB_MESSAGES = {
  'hub.welcome': z.object({
    type: z.literal('hub.welcome'),
    daemonId: short,
    /** How often the daemon sends `daemon.heartbeat`. */
    heartbeatMs: z.int().min(1),
    /** Of the attempts in `daemon.hello`, those that go on. */
    keep: z.array(taskId),
    /** Those that the daemon stops, and whose results it forgets. */
    drop: z.array(taskId),
    /** Of those that go on, the last output stored: the daemon sends what comes after it again. */
    resume: z.array(z.object({ ...attempt, seq: count })).default([]),
    /** Bytes of one message of the daemon; a hub of an older version does not say. */
    maxMessageBytes: z.int().min(1).nullish(),
  }),
  'task.execute': z.object({
    type: z.literal('task.execute'),
    ...attempt,
    /** The number of the attempt, for people. */
    attempt: z.int().min(1),
    /** Whose task it is, by name; a hub of an older version does not say. */
    tenant: short.nullish(),
    agent: short,
    input: text,
    system: text.nullish(),
    session: text.nullish(),
    /** Since when the conversation of its session counts, ISO 8601, UTC; absent where all of it does. */
    sessionSince: text.nullish(),
    context: jsonObject.default({}),
    /** Whether `task.input` may come. */
    takesInput: z.boolean().default(false),
    timeoutMs: z.int().min(1),
    /** ISO 8601, UTC. */
    deadline: text.nullish(),
    /** The earlier turns of its session, oldest first. */
    history: z.array(z.object({ taskId: short, input: text, output: text })).default([]),
    traceparent: text.nullish(),
    attachments: z.array(attachment).default([]),
    /** Where files that the task makes are sent; absent where none may be. */
    artifactsUrl: text.nullish(),
    checkpoint: checkpoint.nullish(),
    /** The folder that its session, or the task without one, goes on in: what it begins as, and how long after a run it is kept, ms. */
    workspace: z.object({ source: workspaceSchema, keepMs: z.int().min(1) }).nullish(),
  }),
  'task.cancel': z.object({ type: z.literal('task.cancel'), ...attempt, reason: text }),
  /** `id` is the same when it is sent again: a daemon takes each once. */
  'task.input': z.object({ type: z.literal('task.input'), ...attempt, id: short, text }),
  /** To the `task.ask` of this `seq`: JSON of the answer; absent where there is none in time, and the run is suspended there once the attempt has ended. */
  'task.answer': z.object({ type: z.literal('task.answer'), ...attempt, seq: z.int().min(1), answer: text.nullish() }),
  'task.acknowledged': z.object({ type: z.literal('task.acknowledged'), ...attempt, outcome: z.enum(['kept', 'refused']) }),
  /** To `workspaces.kept`: those whose time is over, or whose session or task was removed. */
  'workspaces.remove': z.object({ type: z.literal('workspaces.remove'), remove: keptWorkspaces }),
  error: z.object({ type: z.literal('error'), code: short, message: text }),
} as const;

type DaemonMessages = { [Type in keyof typeof DAEMON_MESSAGES]: z.output<(typeof DAEMON_MESSAGES)[Type]> };
type HubMessages = { [Type in keyof typeof HUB_MESSAGES]: z.output<(typeof HUB_MESSAGES)[Type]> };

/** A message of a daemon, as the hub reads it; `DaemonMessage<'task.output'>` is one kind. */
export type DaemonMessage<Type extends keyof DaemonMessages = keyof DaemonMessages> = DaemonMessages[Type];

/** A message of the hub, as a daemon reads it. */
export type HubMessage<Type extends keyof HubMessages = keyof HubMessages> = HubMessages[Type];

/** A message of the hub, as it is written: what has a default may be left out. */
export type HubMessageToSend = z.input<(typeof HUB_MESSAGES)[keyof typeof HUB_MESSAGES]>;

/** A message of a daemon, as it is written. */
export type DaemonMessageToSend = z.input<(typeof DAEMON_MESSAGES)[keyof typeof DAEMON_MESSAGES]>;

/** Reads a frame from a daemon. Unknown fields are dropped. Never throws. */
export function parseDaemonMessage(frame: string): Parsed<DaemonMessage> {
  return parseMessage<DaemonMessage>(DAEMON_MESSAGES, frame);
}

const endEnvelope = z.looseObject({ type: z.enum(['task.completed', 'task.failed']), ...attempt });

/**
 * What is left of an end of an attempt that `parseDaemonMessage` refuses, because nothing else of it comes: the end without its usage, else a
 * failure with the problem. Null for a frame that names no attempt's end.
 */
export function salvageEnd(frame: string, problem: string): DaemonMessage<'task.completed' | 'task.failed'> | null {
  const read = endEnvelope.safeParse(parseJson(frame)).data;
  if (read === undefined) return null;
  const { usage: _usage, ...withoutUsage } = read;
  const end = DAEMON_MESSAGES[read.type].safeParse(withoutUsage);
  if (end.success) return end.data;
  const error = { code: 'AGENT_ERROR', message: `The daemon reported an end that cannot be read: ${problem}` };
  return { type: 'task.failed', taskId: read.taskId, token: read.token, error };
}

/** Reads a frame from the hub. Unknown fields are dropped. Never throws. */
export function parseHubMessage(frame: string): Parsed<HubMessage> {
  return parseMessage<HubMessage>(HUB_MESSAGES, frame);
}

/** JSON Schema of every message, by direction and type, as `/hub/schema.json` answers it. */
export function protocolSchema(): Record<string, unknown> {
  return { protocol: PROTOCOL, closeCodes: CLOSE_CODES, daemonToHub: schemasOf(DAEMON_MESSAGES), hubToDaemon: schemasOf(HUB_MESSAGES) };
}

function schemasOf(messages: Readonly<Record<string, z.ZodType>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(messages).map(([type, schema]) => [type, z.toJSONSchema(schema, { io: 'input' })]));
}
