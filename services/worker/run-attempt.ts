import type { AgentLog, AgentResult } from '#shared/config/index.ts';
import { type AgentCatalog, type AgentRun, type AgentRunners, type Diagnostics, runAgent } from '#shared/agents/index.ts';
import { TaskFailure } from '#shared/errors/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { TaskBody, TaskState } from '#shared/tasks/index.ts';
import { asAttempt } from './watchdog/current-attempt.ts';
import { agentContext, agentTask } from './agent-context.ts';
import { assertAnswer } from './assert-answer.ts';
import type { AttemptOutput } from './attempt-output.ts';
import { gatherInput, hasMoreInput } from './gather-input.ts';
import type { Ending } from './judge-attempt.ts';
import type { RunningAttempt } from './running-attempt.ts';
import type { TaskLogWriter } from './task-log/task-log-writer.ts';

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
  taskLog: TaskLogWriter;
  log: AgentLog;
}

/** Runs the agent of a claimed task until it answers, throws, or is stopped. Never throws. */
export async function runAttempt(parts: RunAttemptParts, claimed: ClaimedAttempt): Promise<Ending> {
  const { attempt, state, output } = claimed;
  const timer = setTimeout(() => attempt.stop({ kind: 'timeout' }), state.timeoutMs);
  let grace: NodeJS.Timeout | undefined;
  const diagnostics: Diagnostics = {};
  try {
    return await new Promise<Ending>((end) => {
      attempt.onStop(() => {
        const stop = attempt.stopped ?? { kind: 'lease-lost' };
        grace = setTimeout(() => end({ kind: 'stopped', stop, diagnostics }), parts.graceMs);
      });
      asAttempt(attempt.member, () => startAgent(parts, claimed, (found) => Object.assign(diagnostics, found))).then(
        (result) => end({ kind: 'answered', result, written: output.text }),
        // Whatever an aborted agent threw is the stop's doing; an answer that came before the stop is an answer.
        (error: unknown) =>
          end(attempt.stopped ? { kind: 'stopped', stop: attempt.stopped, diagnostics } : { kind: 'threw', error, diagnostics }),
      );
    });
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
  }
}

async function startAgent(
  { ledger, catalog, runners }: RunAttemptParts,
  claimed: ClaimedAttempt,
  diagnose: AgentRun['diagnose'],
): Promise<AgentResult> {
  const { body, state, attempt, output, taskLog } = claimed;
  const entry = catalog.configured(body.agent) ?? (await catalog.find(body.tenant, body.agent));
  if (!entry) throw new TaskFailure('AGENT_NOT_FOUND', `There is no agent "${body.agent}" any more`);
  const { text, given } = hasMoreInput(state) ? await gatherInput(ledger, attempt, claimed) : { text: body.input, given: [] };
  attempt.throwIfStopped();
  const result = await runAgent(runners, {
    task: agentTask(body, state, text),
    definition: entry.definition,
    isOperators: entry.origin === 'config',
    context: agentContext({ ledger, body, attempt, output, taskLog, given }),
    inputArrived: () => attempt.inputArrived,
    diagnose,
    untilStopped: (work) => attempt.untilStopped(work),
  });
  assertAnswer(result, ledger.settings.tasks.maxOutputBytes);
  return result;
}
