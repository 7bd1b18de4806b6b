import type { ReplyAddress } from '../tasks/index.ts';

/** A command as it was sent. */
export interface SessionCall {
  tenant: string;
  session: string;
  /** Who sent it, by the surface's own id; null when nobody said. */
  user: string | null;
  surface: string;
  channel: string | null;
  /** The agent that a message sent in its place would go to. */
  agent: string;
  /** What stands behind the command's name. */
  argument: string;
  reply: ReplyAddress | null;
  /** The same when the message is sent again, to make something once; null when its surface has none. */
  idempotencyKey: string | null;
}

/** What a person may not be allowed to do in a session: make schedules, or reach and stop what runs. */
export type SessionRight = 'schedule' | 'steer';

/** A command of a session. */
export interface SessionCommand {
  /** The right that it takes; absent for none. */
  readonly needs?: SessionRight;
  /** What `/help` says of it, in a line that begins with the command. */
  readonly help: string;
  /** Carries it out at once, whatever runs; answers what to tell the person. */
  carryOut(call: SessionCall): Promise<string>;
}
