import { publicTenantId } from '#shared/tenants/index.ts';
import type { AgentContext, AgentTask, AgentTurn } from '#shared/config/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { readTranscript } from '#shared/sessions/index.ts';
import { childTraceparent, type TaskBody, type TaskState } from '#shared/tasks/index.ts';
import type { AttemptOutput } from './attempt-output.ts';
import { InputChannel } from './input-channel.ts';
import type { RunningAttempt } from './running-attempt.ts';
import type { TaskLogWriter } from './task-log/task-log-writer.ts';
import { untilRedisAnswers } from './until-redis-answers.ts';

export interface AgentContextParts {
  ledger: Ledger;
  body: TaskBody;
  attempt: RunningAttempt;
  output: AttemptOutput;
  /** Messages that the agent has from its beginning, by id. */
  given: readonly string[];
  taskLog: TaskLogWriter;
}

/** What an agent gets besides its task. */
export function agentContext({ ledger, body, attempt, output, given, taskLog }: AgentContextParts): AgentContext {
  // What most agents do not ask for is made when one does.
  let turns: Promise<readonly AgentTurn[]> | undefined;
  let channel: InputChannel | undefined;
  return {
    get signal() {
      return attempt.signal;
    },
    write: (text) => output.write(text),
    input: () => (channel ??= new InputChannel({ ledger, attempt, given })).take(),
    history: () => (turns ??= readHistory(ledger, body, attempt)),
    progress: (note, percent) => taskLog.progress(note, percent),
    get log() {
      return taskLog.agentLog;
    },
    get trace() {
      return { traceparent: childTraceparent(body.traceparent) };
    },
  };
}

async function readHistory(ledger: Ledger, { id, tenant, session }: TaskBody, attempt: RunningAttempt): Promise<readonly AgentTurn[]> {
  if (session === null) return [];
  const turns = await untilRedisAnswers(attempt.signal, () => readTranscript(ledger, tenant, session, { before: id }));
  if (turns.some(({ hasVisitor }) => hasVisitor)) attempt.heardVisitor = true;
  return turns.map(({ taskId, input, output }) => ({ taskId, input, output }));
}

/** What an agent is told about its task; `input` is what it is asked. */
export function agentTask(body: TaskBody, state: TaskState, input: string): AgentTask {
  return {
    id: body.id,
    tenant: publicTenantId(body.tenant),
    agent: body.agent,
    input,
    system: body.system,
    session: body.session,
    source: body.source,
    visitor: body.visitor,
    context: body.context ?? {},
    metadata: body.metadata ?? {},
    correlationId: body.correlationId,
    attempt: state.attempt,
  };
}
