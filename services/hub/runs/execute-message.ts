import type { AgentRun } from '#shared/agents/index.ts';
import type { HubMessageToSend } from '#shared/daemons/index.ts';
import type { Execution } from '#shared/execution/index.ts';
import { toIso } from '#shared/time/index.ts';

type Execute = Extract<HubMessageToSend, { type: 'task.execute' }>;

function workspaceOf(definition: AgentRun['definition'], { keepMs }: Execution['sessions']): Pick<Execute, 'workspace'> {
  const source = definition.kind === 'daemon' ? definition.workspace : undefined;
  return source === undefined ? {} : { workspace: { source, keepMs } };
}

function checkpointOf(
  { text, resumed, address: url, key }: NonNullable<AgentRun['checkpoint']>,
  { askMs }: Execution['checkpoint'],
): Execute['checkpoint'] {
  return { text, resumed, url, key, askMs };
}

/** What a daemon gets of an attempt, with addresses for its files. Waits for the session's history while Redis is away. */
export async function executeMessage(
  { task, context, files, checkpoint, definition }: AgentRun,
  { body, state, attempt, sessions, checkpoint: left }: Execution,
): Promise<Execute> {
  const { ref, takesInput } = attempt;
  const [turns, since, attachments, artifactsUrl] = await Promise.all([
    context.history(),
    sessions.since(),
    Promise.all(context.attachments.map(async ({ name, mediaType, bytes, url }) => ({ name, mediaType, bytes, url: await url() }))),
    files?.uploadUrl?.(),
  ]);
  return {
    type: 'task.execute',
    taskId: ref.id,
    token: ref.token,
    attempt: state.attempt,
    tenant: task.tenant,
    agent: task.agent,
    input: task.input,
    ...(task.system === null ? {} : { system: task.system }),
    ...(task.session === null ? {} : { session: task.session }),
    ...(since === 0 ? {} : { sessionSince: toIso(since) }),
    context: { ...(task.context as Record<string, unknown>) },
    takesInput,
    timeoutMs: state.timeoutMs,
    deadline: body.deadline === null ? null : toIso(body.deadline),
    history: turns.map(({ taskId, input, output }) => ({ taskId, input, output })),
    traceparent: context.trace.traceparent,
    attachments,
    ...(artifactsUrl === undefined ? {} : { artifactsUrl }),
    ...(checkpoint && { checkpoint: checkpointOf(checkpoint, left) }),
    ...workspaceOf(definition, sessions),
  };
}
