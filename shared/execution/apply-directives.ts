import { appliesDirectives } from '../config/index.ts';
import type { AgentCatalog } from '../agents/index.ts';
import { type Ledger, parseState, readInputs } from '../ledger/index.ts';
import { retryWhileAway } from '../redis/index.ts';
import {
  applyScheduleCommand,
  formatCommandResult,
  type ScheduleCommandCall,
  type ScheduleParts,
  extractDirectives,
  type Directive,
} from '../schedules/index.ts';
import { readTranscript } from '../sessions/index.ts';
import type { TaskBody } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import { auditDirective } from './audit-directive.ts';
import type { Execution } from './execution.ts';
import type { AgentAnswer } from './run-attempt.ts';

export interface ApplyDirectivesParts {
  schedules: ScheduleParts;
  catalog: AgentCatalog;
  clock: Clock;
}

/** What applying needs of an execution. */
type Answered = Pick<Execution, 'body' | 'attempt' | 'log'>;

/** Most outputs have none. */
const DIRECTIVE = /^ {0,3}\/schedule/im;

/**
 * Applies the `/schedule` lines of an answer as the agent's tenant, and replaces each by its result. A later attempt of the same task
 * makes no second schedule. A refused line is answered there with its reason and fails nothing. An attempt that is stopped meanwhile has not answered: the
 * next one applies them.
 */
export async function applyDirectives(parts: ApplyDirectivesParts, execution: Answered, answer: AgentAnswer): Promise<AgentAnswer> {
  if (answer.kind !== 'answered') return answer;
  const output = answer.result.output ?? answer.written;
  if (!DIRECTIVE.test(output)) return answer;
  try {
    return { ...answer, result: { ...answer.result, output: await withResults(parts, execution, output) } };
  } catch (error) {
    const { stopped } = execution.attempt;
    if (stopped) return { kind: 'stopped', stop: stopped };
    throw error;
  }
}

async function withResults(parts: ApplyDirectivesParts, execution: Answered, output: string): Promise<string> {
  const max = parts.schedules.settings.scheduler.maxDirectivesPerRun;
  if (max === 0 || !(await mayDirect(parts, execution))) return output;
  const { text, directives, places } = extractDirectives(output, max);
  const lines = text === '' ? [] : text.split('\n');
  let added = 0;
  for (const [index, directive] of directives.entries()) {
    const result = await applyDirective(parts, execution, directive, index);
    lines.splice((places[index] ?? lines.length) + added, 0, result);
    added += 1;
  }
  return lines.join('\n');
}

async function mayDirect({ catalog, schedules }: ApplyDirectivesParts, execution: Answered): Promise<boolean> {
  const { body, attempt } = execution;
  const { signal } = attempt;
  if (await retryWhileAway(() => answersVisitor(schedules.ledger, execution), { signal })) return false;
  const entry = await retryWhileAway(() => catalog.find(body.tenant, body.agent), { signal });
  return entry !== null && appliesDirectives(entry.definition);
}

/**
 * Whether an attempt answers words of a visitor: in its message, in the input of its run, or earlier in its session. A visitor could talk
 * an agent into directives that the visitor may not give. The session counts even unread, because some agents remember it themselves.
 */
async function answersVisitor(ledger: Ledger, { body, attempt }: Answered): Promise<boolean> {
  const { id, tenant, session, visitor } = body;
  if (visitor !== null || attempt.hasVisitorInput) return true;
  const { inputs = [] } = parseState(attempt.stored, attempt.first);
  const messages = inputs.length === 0 ? [] : await readInputs(ledger, tenant, inputs);
  if (messages.some((message) => message.visitor !== null)) return true;
  const turns = session === null ? [] : await readTranscript(ledger, tenant, session, { before: id });
  return turns.some(({ hasVisitor }) => hasVisitor);
}

async function applyDirective(
  { schedules, clock }: ApplyDirectivesParts,
  { body, attempt, log }: Answered,
  directive: Directive,
  index: number,
): Promise<string> {
  // Another worker may have the task by now.
  if (!attempt.isHeld(clock.monotonic())) attempt.stop({ kind: 'lease-lost' });
  const call = callOf(body, directive, index);
  try {
    const applied = await retryWhileAway(() => applyScheduleCommand(schedules, call), { signal: attempt.signal });
    log.info({ event: 'directive.applied', directive: directive.command.kind }, 'applied a directive of the agent');
    await auditDirective(schedules, body, applied);
    return formatCommandResult(applied.directive, applied.result);
  } catch (error) {
    if (attempt.stopped) throw error;
    log.error(
      { event: 'directive.failed', err: error, directive: directive.command.kind },
      'a directive of the agent could not be applied',
    );
    return formatCommandResult(directive, { kind: 'refused', reason: 'this could not be carried out' });
  }
}

function callOf(
  { id, tenant, agent, user, reply, source, session, traceparent }: TaskBody,
  directive: Directive,
  index: number,
): ScheduleCommandCall {
  const isOfChat = source === 'chat' || source === 'schedule';
  return {
    tenant,
    agent,
    text: directive.line,
    // Stored with the schedule: attempts of every release make the same.
    key: `writ:${id}:${index}`,
    user: user ?? undefined,
    traceparent,
    // Where the task's own answer goes.
    ...(reply === null ? {} : { reply }),
    ...(reply === null && isOfChat && session !== null ? { session } : {}),
  };
}
