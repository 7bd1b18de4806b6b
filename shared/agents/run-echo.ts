import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import type { AgentResult } from '../config/agent-function.ts';
import { TaskFailure } from '../errors/task-failure.ts';
import { wait } from '../time/wait.ts';
import type { DefinitionOf } from './agent-definition-of.ts';
import type { AgentRun } from './agent-runner.ts';

const contextSchema = z.object({
  /** Milliseconds between two words. */
  paceMs: z.number().min(0).max(60_000).default(0),
  /** The first attempts that fail, to show retries without a broken provider. */
  failAttempts: z.number().int().min(0).max(100).default(0),
  failCode: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'expected upper-case letters, digits and "_"')
    .default('NETWORK_ERROR'),
});

/** Words written before other work of the process gets its turn, so that a long input cannot hold up a cancel. */
const WORDS_PER_TURN = 256;

/**
 * Writes the input word by word, white space included, so that the output equals the input exactly.
 * `context.paceMs`, `failAttempts` and `failCode` steer it; it fails with INVALID_INPUT when one of them is out of range.
 */
export async function runEcho({ task, context }: AgentRun<DefinitionOf<'echo'>>): Promise<AgentResult> {
  const { signal } = context;
  signal.throwIfAborted();
  const { paceMs, failAttempts, failCode } = readContext(task.context);
  if (task.attempt <= failAttempts) {
    throw new TaskFailure(failCode, `The task asked for a failure of attempt ${task.attempt}`, { details: { failAttempts } });
  }
  for (const [index, word] of (task.input.match(/\S+\s*|\s+/g) ?? []).entries()) {
    if (index > 0 && paceMs > 0) await wait(paceMs, signal);
    else if (index % WORDS_PER_TURN === 0) await turn();
    signal.throwIfAborted();
    context.write(word);
  }
  return {};
}

function readContext(context: unknown): z.infer<typeof contextSchema> {
  const read = contextSchema.safeParse(context);
  if (read.success) return read.data;
  const problems = read.error.issues.map((issue) => `context.${issue.path.join('.')}: ${issue.message}`);
  throw new TaskFailure('INVALID_INPUT', problems.join('; '), { details: { problems } });
}
