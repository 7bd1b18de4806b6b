import { z } from 'zod';
import { QUEUE_MODES } from '#shared/config/index.ts';

/** A message of any platform, before it becomes a task. */
export const chatMessageSchema = z.object({
  /** Unique over all platforms. */
  key: z.string(),
  session: z.string(),
  /** Where the answer goes, as the adapter writes it. */
  thread: z.string(),
  /** The chat, by the platform's own id. */
  channel: z.string(),
  user: z.string(),
  userName: z.string(),
  /** What the person wrote. */
  text: z.string(),
  /** The names of what was attached. */
  attachments: z.array(z.string()),
  /** The platform's number, which orders messages of a chat; a command may have none. */
  sequence: z.number().optional(),
  /** The album that it is a part of: the platform's name for it, or one for all attachments where the platform has none. */
  album: z.object({ name: z.string(), isGuess: z.boolean() }).optional(),
  /** Whether it is for the bot: in private, in a thread that is followed, by its name, or where all messages are. */
  isAddressed: z.boolean(),
  /** The mode in which it is accepted, instead of its session's. */
  mode: z.enum(QUEUE_MODES).optional(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

/** The input of the agent: the text, and a line for each attachment. */
export function inputOf({ text, attachments }: Pick<ChatMessage, 'text' | 'attachments'>): string {
  return [text, ...attachments].filter((line) => line !== '').join('\n');
}

/**
 * The immediate answer to a person's message.
 *
 * - `command`: a command's answer
 * - `refused`: why the message became no task
 * - `accepted`: the message became a task; `text` is the message
 */
export interface ChatAnswer {
  readonly kind: 'command' | 'refused' | 'accepted';
  readonly text: string;
}
