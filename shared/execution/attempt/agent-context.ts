import type { FleetModels } from '../../agents/index.ts';
import type { AgentContext, AgentTask, AgentTurn } from '../../config/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { readTranscript } from '../../sessions/index.ts';
import { childTraceparent, type TaskBody, type TaskState } from '../../tasks/index.ts';
import { publicTenantId } from '../../tenants/index.ts';
import { InputChannel } from './attempt-input.ts';
import type { Execution } from '../execution.ts';

export interface ContextParts {
  ledger: Ledger;
  /** Opens the models that an agent asks its context for. */
  fleetModels: FleetModels;
}

/** What an agent gets besides its task. `given`: the messages that are part of its prompt, by id. */
export function agentContext({ ledger, fleetModels }: ContextParts, execution: Execution, given: readonly string[]): AgentContext {
  const { body, attempt, output, taskLog, usage, models, files } = execution;
  // Made when an agent asks for them; most do not.
  let turns: Promise<readonly AgentTurn[]> | undefined;
  let channel: InputChannel | undefined;
  return {
    get signal() {
      return attempt.signal;
    },
    write: (text) => output.write(text),
    input: () => (channel ??= new InputChannel({ ledger, attempt, files, given })).take(),
    history: () => (turns ??= readHistory(ledger, execution)),
    get attachments() {
      return files.attachments;
    },
    attach: (name, data, mediaType) => files.attach(name, data, mediaType),
    progress: (note, percent) => taskLog.progress(note, percent),
    reportUsage: (used) => usage.report(used),
    get log() {
      return taskLog.agentLog;
    },
    model: (name) => fleetModels(models, { name, traceparent: childTraceparent(body.traceparent) }),
    get trace() {
      return { traceparent: childTraceparent(body.traceparent) };
    },
  };
}

async function readHistory(ledger: Ledger, { body, attempt }: Execution): Promise<readonly AgentTurn[]> {
  const { id, tenant, session } = body;
  if (session === null) return [];
  const turns = await retryWhileAway(() => readTranscript(ledger, tenant, session, { before: id }), { signal: attempt.signal });
  if (turns.some(({ hasVisitor }) => hasVisitor)) attempt.hasVisitorInput = true;
  return turns.map(({ taskId, input, output }) => ({ taskId, input, output }));
}

/** What an agent sees of its task; `input` is its prompt. */
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
