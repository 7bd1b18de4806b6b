import { MusterError } from '../../errors/index.ts';
import type { ReplyAddress } from '../../tasks/index.ts';
import { removeSchedule } from '../changes/change-schedule.ts';
import { createSchedule } from '../changes/create-schedule.ts';
import { formatCommandResult, type ListedSchedule, type CommandResult } from './command-result.ts';
import { type Directive, readScheduleCommand, type ScheduleCommand } from './schedule-command.ts';
import { listSchedules, type SchedulePage } from '../store/list-schedules.ts';
import { patchSchedule } from '../changes/patch-schedule.ts';
import type { Schedule } from '../store/schedule.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { scheduleRequestSchema } from '../changes/schedule-request.ts';
import type { ChatPlatformName } from '../../config/index.ts';
import { sessionOf } from '../platforms.ts';

export interface ScheduleCommandCall {
  tenant: string;
  /** Whom new schedules are for: the agent that wrote the writ, or that answers in the chat. */
  agent: string;
  /** The command, with or without `/schedule` before it. */
  text: string;
  /** Under which a schedule is made once, for callers that may come again with the same text: `writ:<task>:<place>`. */
  key?: string | undefined;
  user?: string | undefined;
  channel?: string | undefined;
  /** The chat that it was written in: the results of a new schedule go there, and no other schedules are seen or changed. */
  reply?: ReplyAddress | undefined;
  /** The same for a chat without an address: the session that the runs of a new schedule belong to. */
  session?: string | undefined;
  /** Zone of a new schedule; by default the host's. */
  tz?: string | undefined;
  traceparent?: string | undefined;
}

/** Schedules that one answer lists. */
const LISTED = 50;

/**
 * Carries out a `/schedule` command, as people write it in a chat and agents in their output, and answers what came of it in the words
 * of `format`, by default those that agents read. What cannot be done is told in that text; throws only when Redis cannot be reached.
 */
export async function runScheduleCommand(
  parts: ScheduleParts,
  call: ScheduleCommandCall,
  format: (writ: Directive, result: CommandResult) => string = formatCommandResult,
): Promise<string> {
  const line = call.text.split('\n', 1)[0] ?? '';
  const command = readScheduleCommand(call.text);
  try {
    return format({ line, command }, await applyCommand(parts, command, call));
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return format({ line, command }, refused(error));
  }
}

async function applyCommand(parts: ScheduleParts, command: ScheduleCommand, call: ScheduleCommandCall): Promise<CommandResult> {
  switch (command.kind) {
    case 'create':
      return { kind: 'created', schedule: await applyCreate(parts, command, call) };
    case 'list':
      return await applyList(parts, call);
    case 'cancel':
    case 'pause':
    case 'resume':
      return await applyToExisting(parts, command, call);
    case 'unreadable':
      return { kind: 'refused', reason: command.reason };
  }
}

/** Reads on while a page has few of the chat's own; a tenant's schedules are bounded. */
async function applyList(parts: ScheduleParts, call: ScheduleCommandCall): Promise<CommandResult> {
  const found: Schedule[] = [];
  let before: number | null = null;
  do {
    const filter = { isFitting: (schedule: Schedule) => isInScope(call, schedule) };
    const page: SchedulePage = await listSchedules(parts, call.tenant, filter, { limit: LISTED - found.length, before });
    found.push(...page.items);
    before = page.next;
  } while (before !== null && found.length < LISTED);
  return { kind: 'listed', schedules: found.map((each) => listed(each)), hasMore: before !== null };
}

async function applyToExisting(
  parts: ScheduleParts,
  { kind, number }: { kind: 'cancel' | 'pause' | 'resume'; number: number },
  call: ScheduleCommandCall,
): Promise<CommandResult> {
  const { tenant } = call;
  const schedule = await parts.store.find(tenant, `${number}`);
  if (schedule === null || !isInScope(call, schedule)) return noSuch(number);
  if (kind === 'cancel') return (await removeSchedule(parts, tenant, schedule.id)) ? { kind: 'canceled', number } : noSuch(number);
  return await setStatus(parts, schedule, kind);
}

async function applyCreate(
  parts: ScheduleParts,
  { phrase, message }: { phrase: string; message: string },
  call: ScheduleCommandCall,
): Promise<ListedSchedule> {
  const { tenant, agent, key, user, channel, reply, session, tz, traceparent } = call;
  const asked = { phrase, message, agent, ...(tz === undefined ? {} : { tz }), ...(channel === undefined ? {} : { channel }) };
  const request = scheduleRequestSchema.safeParse(asked);
  if (!request.success) throw new MusterError('request.invalid', request.error.issues.map(({ message: wrong }) => wrong).join('; '));
  return listed((await createSchedule(parts, request.data, { tenant, key, user, reply, session, traceparent })).schedule);
}

async function setStatus(parts: ScheduleParts, { tenant, id, number }: Schedule, kind: 'pause' | 'resume'): Promise<CommandResult> {
  const schedule = await patchSchedule(parts, tenant, id, { status: kind === 'pause' ? 'paused' : 'active' });
  if (!schedule) return noSuch(number);
  const { nextFireAt, tz } = schedule;
  return kind === 'pause' ? { kind: 'paused', number } : { kind: 'resumed', number, nextFireAt, tz };
}

function noSuch(number: number): CommandResult {
  return { kind: 'refused', reason: `there is no schedule #${number}` };
}

function listed({ number, status, ruleText: rule, sentence, tz, nextFireAt, agent, message }: Schedule): ListedSchedule {
  return { number, status, rule, sentence, tz, nextFireAt, agent, message };
}

function refused({ code, message, details = {} }: MusterError): CommandResult {
  if (code === 'schedule.idempotency-conflict') return { kind: 'refused', reason: 'an earlier attempt made another schedule here' };
  const { given, reason, accepted } = details;
  if (typeof reason !== 'string' || !Array.isArray(accepted)) return { kind: 'refused', reason: message };
  return { kind: 'refused', reason: `${String(given)} ${reason}. Accepted forms:`, accepted: accepted.map(String) };
}

/** Where a `/schedule` command was written: in a chat of a platform, or in a session of web chat; nowhere for the tenant's own work. */
interface CommandPlace {
  readonly reply?: ReplyAddress | undefined;
  readonly session?: string | undefined;
}

/** Parts of a thread's name that name its chat; what follows is a topic or a thread in it, which the same people see. */
const CHAT_PARTS: ReadonlyMap<string, number> = new Map(
  Object.entries({ telegram: 2, slack: 2, discord: 3, whatsapp: 3 } satisfies Record<ChatPlatformName, number>),
);

/** Whether a command in this place sees and changes the schedule. In a chat these are the schedules made in it. */
function isInScope({ reply, session }: CommandPlace, schedule: Pick<Schedule, 'reply' | 'session' | 'platform' | 'channel'>): boolean {
  if (reply !== undefined) return schedule.reply?.platform === reply.platform && chatOf(schedule.reply) === chatOf(reply);
  return session === undefined || sessionOf(schedule) === session;
}

function chatOf({ platform, thread }: ReplyAddress): string {
  const count = CHAT_PARTS.get(platform);
  return count === undefined ? thread : thread.split(':').slice(0, count).join(':');
}
