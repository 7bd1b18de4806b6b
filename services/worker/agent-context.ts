import type { AgentContext, AgentTask, AgentTurn } from '#shared/config/agent-function.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import type { Log } from '#shared/log/create-log.ts';
import { readTranscript } from '#shared/sessions/read-transcript.ts';
import type { TaskBody, TaskState } from '#shared/tasks/task.ts';
import { childTraceparent } from '#shared/tasks/trace.ts';
import type { AttemptOutput } from './attempt-output.ts';
import type { InputChannel } from './input-channel.ts';
import type { RunningAttempt } from './running-attempt.ts';
import { untilRedisAnswers } from './until-redis-answers.ts';

export interface AgentContextParts {
  ledger: Ledger;
  body: TaskBody;
  attempt: RunningAttempt;
  output: AttemptOutput;
  channel: InputChannel;
  log: Log;
}

/** What an agent gets besides its task. */
export function agentContext({ ledger, body, attempt, output, channel, log }: AgentContextParts): AgentContext {
  let turns: Promise<readonly AgentTurn[]> | undefined;
  return {
    signal: attempt.signal,
    write: (text) => output.write(text),
    input: () => channel.take(),
    // Read when the agent asks for it, and once: most do not.
    history: () => (turns ??= readHistory(ledger, body, attempt)),
    progress: (note) => log.debug({ event: 'task.progress', note }, 'the agent goes on'),
    log,
    // Made when the agent asks for it: most do not, and random numbers cost.
    get trace() {
      return { traceparent: childTraceparent(body.traceparent) };
    },
  };
}

async function readHistory(ledger: Ledger, { id, tenant, session }: TaskBody, { signal }: RunningAttempt): Promise<readonly AgentTurn[]> {
  if (session === null) return [];
  return await untilRedisAnswers(signal, () => readTranscript(ledger, tenant, session, { before: id }));
}

/** What an agent is told about its task; `input` is what it is asked. */
export function agentTask(body: TaskBody, state: TaskState, input: string): AgentTask {
  return {
    id: body.id,
    tenant: body.tenant,
    agent: body.agent,
    input,
    session: body.session,
    source: body.source,
    context: body.context ?? {},
    metadata: body.metadata ?? {},
    correlationId: body.correlationId,
    attempt: state.attempt,
  };
}
