import type { AgentLog } from '#shared/config/index.ts';
import type { AgentCatalog } from '#shared/agents/index.ts';
import {
  formatCommandResult,
  runScheduleCommand,
  type ScheduleCommandCall,
  type ScheduleParts,
  extractDirectives,
  type Directive,
} from '#shared/schedules/index.ts';
import type { TaskBody } from '#shared/tasks/index.ts';
import type { Clock } from '#shared/time/index.ts';
import type { Ending } from './judge-attempt.ts';
import { hasVisitorsWords } from './visitors-words.ts';
import type { RunningAttempt } from './running-attempt.ts';
import { untilRedisAnswers } from './until-redis-answers.ts';

export interface CarryOutWritsParts {
  schedules: ScheduleParts;
  catalog: AgentCatalog;
  clock: Clock;
}

export interface WritingAttempt {
  body: TaskBody;
  attempt: RunningAttempt;
  log: AgentLog;
}

const WRIT = /^ {0,3}\/schedule/im;

/** Looks quickly: most outputs have none. */
export function mayHaveWrits(ending: Ending): boolean {
  return ending.kind === 'answered' && WRIT.test(ending.result.output ?? ending.written);
}

/**
 * Carries out the `/schedule` lines of an answer as the agent's tenant, and puts what came of each in its place. Done again for a later
 * attempt of the same task, it makes no second schedule. What cannot be done is said there and fails nothing. An attempt that is
 * stopped meanwhile has not answered: whoever runs the task next carries them out.
 */
export async function carryOutWrits(parts: CarryOutWritsParts, writing: WritingAttempt, ending: Ending): Promise<Ending> {
  if (ending.kind !== 'answered' || !mayHaveWrits(ending)) return ending;
  const output = ending.result.output ?? ending.written;
  try {
    return { ...ending, result: { ...ending.result, output: await withResults(parts, writing, output) } };
  } catch (error) {
    const stop = writing.attempt.stopped;
    if (stop) return { kind: 'stopped', stop };
    throw error;
  }
}

async function withResults(parts: CarryOutWritsParts, writing: WritingAttempt, output: string): Promise<string> {
  const most = parts.schedules.settings.scheduler.maxWritsPerRun;
  if (most === 0 || !(await mayWrite(parts, writing))) return output;
  const { text, directives, places } = extractDirectives(output, most);
  const lines = text === '' ? [] : text.split('\n');
  let added = 0;
  for (const [index, writ] of directives.entries()) {
    const block = await carryOut(parts, writing, writ, index);
    lines.splice((places[index] ?? lines.length) + added, 0, block);
    added += 1;
  }
  return lines.join('\n');
}

async function mayWrite({ catalog, schedules }: CarryOutWritsParts, { body, attempt }: WritingAttempt): Promise<boolean> {
  if (await untilRedisAnswers(attempt.signal, () => hasVisitorsWords(schedules.ledger, body, attempt))) return false;
  const entry = await untilRedisAnswers(attempt.signal, () => catalog.find(body.tenant, body.agent));
  return entry !== null && entry.definition.kind !== 'echo' && entry.definition.writs !== false;
}

async function carryOut(
  parts: CarryOutWritsParts,
  { body, attempt, log }: WritingAttempt,
  writ: Directive,
  index: number,
): Promise<string> {
  // Another worker may have the task by now.
  if (!attempt.isHeld(parts.clock.monotonic())) attempt.stop({ kind: 'lease-lost' });
  const call = callOf(body, writ, index);
  try {
    const result = await untilRedisAnswers(attempt.signal, () => runScheduleCommand(parts.schedules, call));
    log.info({ event: 'writ.carried-out', writ: writ.command.kind }, 'carried out what an agent wrote');
    return result;
  } catch (error) {
    if (attempt.stopped) throw error;
    log.error({ event: 'writ.failed', err: error, writ: writ.command.kind }, 'what an agent wrote could not be carried out');
    return formatCommandResult(writ, { kind: 'refused', reason: 'this could not be carried out' });
  }
}

function callOf(
  { id, tenant, agent, user, reply, source, session, traceparent }: TaskBody,
  writ: Directive,
  index: number,
): ScheduleCommandCall {
  const isOfChat = source === 'chat' || source === 'schedule';
  return {
    tenant,
    agent,
    text: writ.line,
    key: `writ:${id}:${index}`,
    user: user ?? undefined,
    traceparent,
    // Where the task's own answer goes.
    ...(reply === null ? {} : { reply }),
    ...(reply === null && isOfChat && session !== null ? { session } : {}),
  };
}
