import type { SessionCommand } from '../../sessions/index.ts';
import { formatWallTime } from '../rules/wall-time.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import type { CommandResult, ListedSchedule } from './command-result.ts';
import { applyScheduleCommand } from './run-schedule-command.ts';
import { changeOf } from './schedule-change.ts';

/**
 * `/schedule` in a chat. A new schedule is for the agent that answers there, and its results return to the same place: the platform's
 * thread, else the session.
 */
export function scheduleCommands(parts: ScheduleParts): Readonly<Record<'schedule', SessionCommand>> {
  return {
    schedule: {
      needs: 'schedule',
      help: '/schedule <when>: <message> has the agent do it then; /schedule list shows what is planned; pause, resume, cancel <number>',
      run: async ({ tenant, session, user, channel, agent, argument, reply, idempotencyKey }) => {
        const applied = await applyScheduleCommand(parts, {
          tenant,
          agent,
          text: `/schedule ${argument}`,
          key: idempotencyKey === null ? undefined : `chat:${idempotencyKey}`,
          user: user ?? undefined,
          channel: channel ?? undefined,
          ...(reply === null ? { session } : { reply }),
        });
        return { text: describeResult(applied.result), change: changeOf(applied) };
      },
    },
  };
}

/** The result of a command for the person who wrote it. Agents get `formatCommandResult`. */
function describeResult(result: CommandResult): string {
  switch (result.kind) {
    case 'created':
      return `Scheduled ${describeSchedule(result.schedule)}.`;
    case 'listed':
      return result.schedules.length === 0 ? 'This chat has no schedules.' : describeList(result.schedules, result.hasMore === true);
    case 'canceled':
      return `Canceled #${result.number}.`;
    case 'paused':
      return `Paused #${result.number}. /schedule resume ${result.number} starts it again.`;
    case 'resumed':
      return `Resumed #${result.number}${describeNext(result)}.`;
    case 'refused':
      return [`This did not work: ${result.reason}`, ...(result.accepted ?? []).map((form) => `- ${form}`)].join('\n');
  }
}

function describeList(schedules: readonly ListedSchedule[], hasMore: boolean): string {
  const lines = schedules.map((schedule) => `${describeSchedule(schedule)}${schedule.status === 'active' ? '' : ` (${schedule.status})`}`);
  return [...lines, ...(hasMore ? ['and more'] : []), '/schedule cancel, pause or resume with the number changes one.'].join('\n');
}

/** `#3: Every day at 08:00, next 2026-06-01 08:00 (Europe/Berlin): the weather`. */
function describeSchedule({ number, sentence, message, nextFireAt, tz }: ListedSchedule): string {
  const isOnce = sentence.startsWith('Once') && nextFireAt !== null;
  // A paused schedule has no next time, and its sentence no zone.
  const next = nextFireAt === null ? ` (${tz})` : describeNext({ nextFireAt, tz });
  const when = isOnce ? `once, at ${formatTime(nextFireAt, tz)}` : `${sentence}${next}`;
  return `#${number}: ${when}: ${shorten(message)}`;
}

function describeNext({ nextFireAt, tz }: Pick<ListedSchedule, 'nextFireAt' | 'tz'>): string {
  return nextFireAt === null ? '' : `, next ${formatTime(nextFireAt, tz)}`;
}

function formatTime(ms: number, tz: string): string {
  return `${formatWallTime(ms, tz)} (${tz})`;
}

const SHOWN_CHARACTERS = 100;

function shorten(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  return characters.length <= SHOWN_CHARACTERS ? characters.join('') : `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}
