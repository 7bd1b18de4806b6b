import type { AgentResult } from '#shared/config/agent-function.ts';
import { runAgent, type AgentRunners } from '#shared/agents/run-agent.ts';
import type { AgentCatalog } from '#shared/agents/agent-catalog.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import type { Log } from '#shared/log/create-log.ts';
import type { TaskBody, TaskState } from '#shared/tasks/task.ts';
import { agentContext, agentTask } from './agent-context.ts';
import type { AttemptOutput } from './attempt-output.ts';
import { gatherInput } from './gather-input.ts';
import { InputChannel } from './input-channel.ts';
import type { Ending } from './judge-attempt.ts';
import type { RunningAttempt } from './running-attempt.ts';

export interface RunAttemptParts {
  ledger: Ledger;
  catalog: AgentCatalog;
  runners: AgentRunners;
  /** How long an agent may take to end after an abort before it is left behind, ms. */
  graceMs: number;
}

export interface ClaimedAttempt {
  body: TaskBody;
  state: TaskState;
  attempt: RunningAttempt;
  output: AttemptOutput;
  log: Log;
}

/** Runs the agent of a claimed task until it answers, throws, or is stopped. Never throws. */
export async function runAttempt(parts: RunAttemptParts, claimed: ClaimedAttempt): Promise<Ending> {
  const { attempt, state, output } = claimed;
  const timer = setTimeout(() => attempt.stop({ kind: 'timeout' }), state.timeoutMs);
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  let grace: NodeJS.Timeout | undefined;
  const onStop = (): void => {
    const stop = attempt.stopped ?? { kind: 'lease-lost' };
    grace = setTimeout(() => end({ kind: 'stopped', stop }), parts.graceMs);
  };
  attempt.signal.addEventListener('abort', onStop, { once: true });
  if (attempt.signal.aborted) onStop();
  startAgent(parts, claimed).then(
    (result) => end({ kind: 'answered', result, written: output.text }),
    // Whatever an aborted agent threw is the stop's doing; an answer that came before the stop is an answer.
    (error: unknown) => end(attempt.stopped ? { kind: 'stopped', stop: attempt.stopped } : { kind: 'threw', error }),
  );
  try {
    return await ended;
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
  }
}

async function startAgent({ ledger, catalog, runners }: RunAttemptParts, claimed: ClaimedAttempt): Promise<AgentResult> {
  const { body, state, attempt, output, log } = claimed;
  const entry = await catalog.find(body.tenant, body.agent);
  if (!entry) throw new TaskFailure('AGENT_NOT_FOUND', `There is no agent "${body.agent}" any more`);
  const { text, given } = await gatherInput(ledger, attempt, claimed);
  const channel = new InputChannel({ ledger, attempt, given });
  return await runAgent(runners, {
    task: agentTask(body, state, text),
    definition: entry.definition,
    context: agentContext({ ledger, body, attempt, output, channel, log }),
    inputArrived: () => attempt.inputArrived,
  });
}
