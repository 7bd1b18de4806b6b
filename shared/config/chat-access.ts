import { z } from 'zod';
import { CHAT_PLATFORMS } from './chat-environment.ts';

/**
 * - `talk`: write to agents, ask what runs, and begin a fresh transcript
 * - `schedule`: `/schedule`, and have agents write it in answers
 * - `steer`: `/stop`, `/queue`, and messages that reach or stop what runs; other messages wait, and become one turn
 */
export const CHAT_RIGHTS = ['talk', 'schedule', 'steer'] as const;
export type ChatRight = (typeof CHAT_RIGHTS)[number];

const names = z.array(z.string().min(1).max(200)).min(1).max(10_000).optional();

const ruleSchema = z.strictObject({
  /** People by the platform's own ids; without them the rule is for all. */
  users: names,
  /** Chats by the platform's own ids, as `channel` in `routing.agents`; without them the rule is for all. */
  channels: names,
  may: z.array(z.enum(CHAT_RIGHTS)).default([...CHAT_RIGHTS]),
});

/**
 * Who may do what, by platform. A platform that is not named is open to all who find the bot. With rules a person has what any rule
 * that fits gives, and nothing without one.
 */
export const chatAccessSchema = z.partialRecord(z.enum(CHAT_PLATFORMS), z.array(ruleSchema).max(1000)).default({});
export type ChatAccess = z.infer<typeof chatAccessSchema>;
