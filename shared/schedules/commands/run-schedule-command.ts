import type { ChatPlatformName } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { ReplyAddress } from '../../tasks/index.ts';
import { removeSchedule } from '../changes/change-schedule.ts';
import { createSchedule } from '../changes/create-schedule.ts';
import { updateSchedule } from '../changes/update-schedule.ts';
import { scheduleRequestSchema } from '../changes/schedule-request.ts';
import { sessionOf } from '../platforms.ts';
import type { ScheduleParts } from '../schedule-parts.ts';
import { listSchedules, type SchedulePage } from '../store/list-schedules.ts';
import type { Schedule, ScheduleMaker } from '../store/schedule.ts';
import type { CommandResult, ListedSchedule } from './command-result.ts';
import { type Directive, readScheduleCommand, type ScheduleCommand } from './schedule-command.ts';

export interface ScheduleCommandCall {
  tenant: string;
  /** The agent of new schedules: the agent that wrote the directive, or that answers in the chat. */
  agent: string;
  /** The command, with or without `/schedule` before it. */
  text: string;
  /** The key under which a schedule is created once, for callers that may repeat the same text. */
  key?: string | undefined;
  user?: string | undefined;
  channel?: string | undefined;
  /** The chat of the command: it receives the results of a new schedule, and the command sees only the chat's schedules. */
  reply?: ReplyAddress | undefined;
  /** The same for a chat without an address: the session of the new schedule's runs. */
  session?: string | undefined;
  /** Who wrote the command, when that was an agent, which sees only what it or its hook made. */
  madeBy?: ScheduleMaker | undefined;
  /** The zone of a new schedule; by default the host's. */
  tz?: string | undefined;
  traceparent?: string | undefined;
}

/** The maximum of listed schedules. */
const MAX_LISTED = 50;

export interface AppliedCommand {
  directive: Directive;
  result: CommandResult;
  /** Of a refusal by a rule; null for one of the words, and for what was done. */
  code: string | null;
}

/**
 * Applies a `/schedule` command of a person in a chat or of an agent in its output. A refusal is a result too; throws only when Redis cannot
 * be reached.
 */
export async function applyScheduleCommand(parts: ScheduleParts, call: ScheduleCommandCall): Promise<AppliedCommand> {
  const line = call.text.split('\n', 1)[0] ?? '';
  const command = readScheduleCommand(call.text);
  try {
    return { directive: { line, command }, result: await applyCommand(parts, command, call), code: null };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return { directive: { line, command }, result: refusalOf(error), code: error.code };
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

async function applyCreate(
  parts: ScheduleParts,
  { phrase, message }: { phrase: string; message: string },
  call: ScheduleCommandCall,
): Promise<ListedSchedule> {
  const { tenant, agent, key, user, channel, reply, session, tz, traceparent, madeBy } = call;
  const fields = { phrase, message, agent, ...(tz === undefined ? {} : { tz }), ...(channel === undefined ? {} : { channel }) };
  const request = scheduleRequestSchema.safeParse(fields);
  if (!request.success) throw new MusterError('request.invalid', request.error.issues.map((issue) => issue.message).join('; '));
  return listed((await createSchedule(parts, request.data, { tenant, key, user, reply, session, traceparent, madeBy })).schedule);
}

/** Reads further pages while few schedules are in scope; a tenant's schedules are bounded. */
async function applyList(parts: ScheduleParts, call: ScheduleCommandCall): Promise<CommandResult> {
  const found: Schedule[] = [];
  let before: number | null = null;
  do {
    const filter = { isFitting: (schedule: Schedule) => isInScope(call, schedule) };
    const page: SchedulePage = await listSchedules(parts, call.tenant, filter, { limit: MAX_LISTED - found.length, before });
    found.push(...page.items);
    before = page.next;
  } while (before !== null && found.length < MAX_LISTED);
  return { kind: 'listed', schedules: found.map((each) => listed(each)), hasMore: before !== null };
}

async function applyToExisting(
  parts: ScheduleParts,
  { kind, number }: { kind: 'cancel' | 'pause' | 'resume'; number: number },
  call: ScheduleCommandCall,
): Promise<CommandResult> {
  const { tenant } = call;
  const schedule = await parts.store.find(tenant, `${number}`);
  if (schedule === null || !isInScope(call, schedule)) return noSuchSchedule(number);
  if (kind === 'cancel') return (await removeSchedule(parts, tenant, schedule.id)) ? { kind: 'canceled', number } : noSuchSchedule(number);
  const changed = await updateSchedule(parts, tenant, schedule.id, { status: kind === 'pause' ? 'paused' : 'active' });
  if (!changed) return noSuchSchedule(number);
  return kind === 'pause' ? { kind: 'paused', number } : { kind: 'resumed', number, nextFireAt: changed.nextFireAt, tz: changed.tz };
}

/** The leading parts of a thread's name that identify its chat, as the adapters of `services/chat` name threads. The rest is a topic in it. */
const CHAT_PARTS: ReadonlyMap<string, number> = new Map(
  Object.entries({ telegram: 2, slack: 2, discord: 3, whatsapp: 3 } satisfies Record<ChatPlatformName, number>),
);

/**
 * A command in a chat sees and changes the schedules of that chat; without a chat, all of the tenant. An agent sees of these what it made
 * itself, and in a task of a hook what came of that hook.
 */
function isInScope({ reply, session, madeBy }: Pick<ScheduleCommandCall, 'reply' | 'session' | 'madeBy'>, schedule: Schedule): boolean {
  if (madeBy !== undefined && !isOfMaker(madeBy, schedule.madeBy)) return false;
  if (reply !== undefined) return schedule.reply?.platform === reply.platform && chatOf(schedule.reply) === chatOf(reply);
  return session === undefined || sessionOf(schedule) === session;
}

function isOfMaker({ agent, hook }: ScheduleMaker, maker: ScheduleMaker | null): boolean {
  return hook === null ? maker?.agent === agent : maker?.hook === hook;
}

function chatOf({ platform, thread }: ReplyAddress): string {
  const count = CHAT_PARTS.get(platform);
  return count === undefined ? thread : thread.split(':').slice(0, count).join(':');
}

function listed({ number, status, ruleText: rule, sentence, tz, nextFireAt, agent, message }: Schedule): ListedSchedule {
  return { number, status, rule, sentence, tz, nextFireAt, agent, message };
}

function noSuchSchedule(number: number): CommandResult {
  return { kind: 'refused', reason: `there is no schedule #${number}` };
}

function refusalOf({ code, message, details = {} }: MusterError): CommandResult {
  if (code === 'schedule.idempotency-conflict') return { kind: 'refused', reason: 'an earlier attempt made another schedule here' };
  const { given, reason, accepted } = details;
  if (typeof reason !== 'string' || !Array.isArray(accepted)) return { kind: 'refused', reason: message };
  return { kind: 'refused', reason: `${String(given)} ${reason}. Accepted forms:`, accepted: accepted.map(String) };
}
