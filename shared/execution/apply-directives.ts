import { directivesOf } from '../config/index.ts';
import type { AgentCatalog } from '../agents/index.ts';
import { isUntrusted } from '../ledger/index.ts';
import { retryWhileAway } from '../redis/index.ts';
import {
  applyScheduleCommand,
  DIRECTIVE_KEY,
  formatCommandResult,
  hasDirective,
  type ScheduleCommandCall,
  type ScheduleMaker,
  type ScheduleParts,
  extractDirectives,
  type Directive,
} from '../schedules/index.ts';
import { knownUser, type TaskBody } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import { auditDirective } from './audit-directive.ts';
import type { Execution } from './execution.ts';
import { readOutsideTexts } from './outside-texts.ts';

export interface ApplyDirectivesParts {
  schedules: ScheduleParts;
  catalog: AgentCatalog;
  clock: Clock;
}

/** What applying needs of an execution. */
type Answered = Pick<Execution, 'body' | 'attempt' | 'files' | 'journal' | 'log'>;

/**
 * Applies the `/schedule` lines of an answer as the agent's tenant, and replaces each by its result. A later attempt of the same task
 * makes no second schedule. A refused line is answered there with its reason and fails nothing. Throws once the attempt is stopped.
 */
export async function applyDirectives(parts: ApplyDirectivesParts, execution: Answered, output: string): Promise<string> {
  if (!hasDirective(output)) return output;
  const max = parts.schedules.settings.scheduler.maxDirectivesPerRun;
  const { attempt } = execution;
  const orders = max === 0 ? null : await retryWhileAway(() => ordersOf(parts, execution), { signal: attempt.signal });
  if (orders === null) return output;
  const { text, directives, places } = extractDirectives(output, max, orders.isQuoted);
  const lines = text === '' ? [] : text.split('\n');
  let added = 0;
  for (const [index, directive] of directives.entries()) {
    const result = await applyDirective(parts, execution, callOf(execution.body, directive, { index, untrusted: orders.untrusted }));
    lines.splice((places[index] ?? lines.length) + added, 0, result);
    added += 1;
  }
  return lines.join('\n');
}

/** What the directives of an answer may do. */
interface Orders {
  /** Whether they follow words of somebody who may give none, which their agent allows. */
  untrusted: boolean;
  /** Whether a line repeats what others wrote. */
  isQuoted: (line: string) => boolean;
}

/** Null for an answer whose directives are not applied: its agent or the words that it answers may give none. */
async function ordersOf(
  { catalog, schedules: { ledger } }: ApplyDirectivesParts,
  { body, files, journal, log }: Answered,
): Promise<Orders | null> {
  const entry = await catalog.find(body.tenant, body.agent);
  const allowed = entry === null ? false : directivesOf(entry.definition);
  if (allowed === false) return null;
  const outside = await readOutsideTexts(ledger, body, { files, heard: journal.inputs.heard.all });
  const untrusted = outside.untrusted || (await isUntrusted(ledger, body));
  if (untrusted && allowed !== true) {
    log.info({ event: 'directive.untrusted' }, 'left the directives of an answer to untrusted words as they are');
    return null;
  }
  return { untrusted, isQuoted: outside.has };
}

async function applyDirective(
  { schedules, clock }: ApplyDirectivesParts,
  { body, attempt, log }: Answered,
  { call, directive }: DirectiveCall,
): Promise<string> {
  // Another worker may have the task by now.
  if (!attempt.isHeld(clock.monotonic())) attempt.stop({ kind: 'lease-lost' });
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

interface DirectiveCall {
  call: ScheduleCommandCall;
  directive: Directive;
}

function callOf(body: TaskBody, directive: Directive, { index, untrusted }: { index: number; untrusted: boolean }): DirectiveCall {
  const { id, tenant, agent, reply, source, session, traceparent } = body;
  const isOfChat = source === 'chat' || source === 'schedule';
  const call = {
    tenant,
    agent,
    text: directive.line,
    // Stored with the schedule: attempts of every release make the same.
    key: `${DIRECTIVE_KEY}${id}:${index}`,
    user: knownUser(body) ?? undefined,
    madeBy: makerOf(body, untrusted),
    traceparent,
    // Where the task's own answer goes.
    ...(reply === null ? {} : { reply }),
    ...(reply === null && isOfChat && session !== null ? { session } : {}),
  };
  return { call, directive };
}

function makerOf({ agent, trigger, sourceId }: TaskBody, untrusted: boolean): ScheduleMaker {
  return { agent, hook: trigger === 'hook' ? sourceId : null, untrusted };
}
