import type { SessionCommand } from '../sessions/index.ts';
import { describeResult } from './commands/describe-result.ts';
import { runScheduleCommand } from './run-schedule-command.ts';
import type { ScheduleParts } from './schedule-parts.ts';

/**
 * `/schedule` in a chat. What it makes is for the agent that answers there, and its results come back to the same place: to the
 * platform's thread, else into the session.
 */
export function scheduleCommands(parts: ScheduleParts): Readonly<Record<'schedule', SessionCommand>> {
  return {
    schedule: {
      needs: 'schedule',
      help: '/schedule <when>: <message> has the agent do it then; /schedule list shows what is planned; pause, resume, cancel <number>',
      run: async ({ tenant, session, user, channel, agent, argument, reply, idempotencyKey }) =>
        await runScheduleCommand(
          parts,
          {
            tenant,
            agent,
            text: `/schedule ${argument}`,
            key: idempotencyKey === null ? undefined : `chat:${idempotencyKey}`,
            user: user ?? undefined,
            channel: channel ?? undefined,
            ...(reply === null ? { session } : { reply }),
          },
          describeResult,
        ),
    },
  };
}
