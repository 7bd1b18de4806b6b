import { createHash } from 'node:crypto';
import { MusterError } from '../errors/index.ts';
import { canonicalJson, type ReplyAddress, sessionIdSchema, type TaskRequest } from '../tasks/index.ts';
import type { SessionRight } from './commands.ts';
import type { ModeWord } from './parse-message.ts';

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

/** Throws `request.invalid` for a message without text, or of a session that cannot be one. */
export function assertReadable({ session, text }: IncomingMessage): void {
  const id = sessionIdSchema.safeParse(session);
  if (!id.success) throw new MusterError('request.invalid', `session: ${id.error.issues[0]?.message ?? 'expected an id'}`);
  if (text.trim() === '') throw new MusterError('request.invalid', 'text: expected something to say');
}

/** What the surface sent, for comparison with a message that comes again under the same key. */
export function digestOf({ session, text, agent, surface, channel, mode, user, visitor, sequence, context }: IncomingMessage): string {
  // Only a visitor's message has another element: a message may come again after an update.
  const by = visitor === undefined ? [] : [visitor];
  const sent = canonicalJson([session, text, agent, surface, channel, mode, user, sequence, context, ...by]);
  return createHash('sha256').update(sent).digest('base64url');
}
