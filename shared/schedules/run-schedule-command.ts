import { MusterError } from '#shared/errors/muster-error.ts';
import type { ReplyAddress } from '#shared/tasks/task.ts';
import { removeSchedule } from './change-schedule.ts';
import { createSchedule } from './create-schedule.ts';
import { formatWritResult, type ListedSchedule, type WritResult } from './format-writ-result.ts';
import { listSchedules } from './list-schedules.ts';
import { patchSchedule } from './patch-schedule.ts';
import { readScheduleCommand, type ScheduleCommand } from './read-schedule-command.ts';
import type { Schedule } from './schedule.ts';
import type { ScheduleParts } from './schedule-parts.ts';
import { scheduleRequestSchema } from './schedule-request.ts';

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
  /** Where the results of a new schedule go in a chat. */
  reply?: ReplyAddress | undefined;
  /** The session that the runs of a new schedule belong to, for a chat without an address. */
  session?: string | undefined;
  /** Zone of a new schedule; by default the host's. */
  tz?: string | undefined;
  traceparent?: string | undefined;
}

/** Schedules that one answer lists. */
const LISTED = 50;

/**
 * Carries out a `/schedule` command, as people write it in a chat and agents in their output, and answers the text that tells what
 * came of it. What cannot be done is told in that text; throws only when Redis cannot be reached.
 */
export async function runScheduleCommand(parts: ScheduleParts, call: ScheduleCommandCall): Promise<string> {
  const line = call.text.split('\n', 1)[0] ?? '';
  const command = readScheduleCommand(call.text);
  try {
    return formatWritResult({ line, command }, await carryOut(parts, command, call));
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return formatWritResult({ line, command }, refused(error));
  }
}

async function carryOut(parts: ScheduleParts, command: ScheduleCommand, call: ScheduleCommandCall): Promise<WritResult> {
  switch (command.kind) {
    case 'create':
      return { kind: 'created', schedule: await make(parts, command, call) };
    case 'list': {
      const { items, next } = await listSchedules(parts, call.tenant, {}, { limit: LISTED, before: null });
      return { kind: 'listed', schedules: items.map((each) => listed(each)), hasMore: next !== null };
    }
    case 'cancel':
      return (await removeSchedule(parts, call.tenant, `${command.number}`))
        ? { kind: 'canceled', number: command.number }
        : noSuch(command.number);
    case 'pause':
    case 'resume':
      return await setStatus(parts, command.number, call.tenant, command.kind);
    case 'unreadable':
      return { kind: 'refused', reason: command.reason };
  }
}

async function make(
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

async function setStatus(parts: ScheduleParts, number: number, tenant: string, kind: 'pause' | 'resume'): Promise<WritResult> {
  const schedule = await patchSchedule(parts, tenant, `${number}`, { status: kind === 'pause' ? 'paused' : 'active' });
  if (!schedule) return noSuch(number);
  const { nextFireAt, tz } = schedule;
  return kind === 'pause' ? { kind: 'paused', number } : { kind: 'resumed', number, nextFireAt, tz };
}

function noSuch(number: number): WritResult {
  return { kind: 'refused', reason: `there is no schedule #${number}` };
}

function listed({ number, status, ruleText: rule, tz, nextFireAt, agent, message }: Schedule): ListedSchedule {
  return { number, status, rule, tz, nextFireAt, agent, message };
}

function refused({ code, message, details = {} }: MusterError): WritResult {
  if (code === 'schedule.idempotency-conflict') return { kind: 'refused', reason: 'an earlier attempt made another schedule here' };
  const { given, reason, accepted } = details;
  if (typeof reason !== 'string' || !Array.isArray(accepted)) return { kind: 'refused', reason: message };
  return { kind: 'refused', reason: `${String(given)} ${reason}. Accepted forms:`, accepted: accepted.map(String) };
}
