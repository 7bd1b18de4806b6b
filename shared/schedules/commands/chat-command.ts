import type { SessionCommand } from '../../sessions/index.ts';
import { runScheduleCommand } from './run-schedule-command.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { ListedSchedule, CommandResult } from './command-result.ts';
import type { Directive } from './schedule-command.ts';
import { formatWallTime } from '../rules/wall-time.ts';

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

const SHOWN_CHARACTERS = 100;

/** What came of a `/schedule` command, for the person who wrote it. Agents read `formatWritResult`. */
function describeResult(_writ: Directive, result: CommandResult): string {
  switch (result.kind) {
    case 'created':
      return `Scheduled ${nameOf(result.schedule)}.`;
    case 'listed':
      return result.schedules.length === 0 ? 'This chat has no schedules.' : listOf(result.schedules, result.hasMore === true);
    case 'canceled':
      return `Canceled #${result.number}.`;
    case 'paused':
      return `Paused #${result.number}. /schedule resume ${result.number} starts it again.`;
    case 'resumed':
      return `Resumed #${result.number}${nextOf(result)}.`;
    case 'refused':
      return [`This did not work: ${result.reason}`, ...(result.accepted ?? []).map((form) => `- ${form}`)].join('\n');
  }
}

function listOf(schedules: readonly ListedSchedule[], hasMore: boolean): string {
  const lines = schedules.map((schedule) => `${nameOf(schedule)}${schedule.status === 'active' ? '' : ` (${schedule.status})`}`);
  return [...lines, ...(hasMore ? ['and more'] : []), '/schedule cancel, pause or resume with the number changes one.'].join('\n');
}

/** `#3: Every day at 08:00, next 2026-06-01 08:00 (Europe/Berlin): the weather`. */
function nameOf({ number, sentence, message, ...time }: ListedSchedule): string {
  const isOnce = sentence.startsWith('Once');
  const when = isOnce && time.nextFireAt !== null ? `once, at ${at(time.nextFireAt, time.tz)}` : `${sentence}${nextOf(time)}`;
  return `#${number}: ${when}: ${shorten(message)}`;
}

function nextOf({ nextFireAt, tz }: Pick<ListedSchedule, 'nextFireAt' | 'tz'>): string {
  return nextFireAt === null ? '' : `, next ${at(nextFireAt, tz)}`;
}

function at(ms: number, tz: string): string {
  return `${formatWallTime(ms, tz)} (${tz})`;
}

function shorten(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  return characters.length <= SHOWN_CHARACTERS ? characters.join('') : `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}
