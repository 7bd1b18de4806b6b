import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import type { AgentResult } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { wait } from '../../time/index.ts';
import type { AgentRun, DefinitionOf, KindOfAgent } from '../agent-kind.ts';

/** Agents that write their input back, for tests and first steps. */
export const echo: KindOfAgent<DefinitionOf<'echo'>> = {
  openRunner: () => runEcho,
  check: () => undefined,
  secretsOf: () => [],
};

const contextSchema = z.object({
  /** Milliseconds between two words. */
  paceMs: z.number().min(0).max(60_000).default(0),
  /** The first attempts that fail, to show retries without a broken provider. */
  failAttempts: z.number().int().min(0).max(100).default(0),
  failCode: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'expected upper-case letters, digits and "_"')
    .default('NETWORK_ERROR'),
  /** Takes no messages while it runs. */
  noInput: z.boolean().default(false),
});

/** Words written before other work of the process gets its turn, so that a long input cannot hold up a cancel. */
const WORDS_PER_TURN = 256;

/**
 * Writes the input word by word, white space included, so that the output equals the input. Messages that arrived meanwhile follow after a
 * blank line each, unless `context.noInput`. `context.paceMs`, `failAttempts` and `failCode` steer it; it fails with INVALID_INPUT when one
 * of them is out of range.
 */
export async function runEcho({ task, context }: AgentRun<DefinitionOf<'echo'>>): Promise<AgentResult> {
  const { signal } = context;
  signal.throwIfAborted();
  const { paceMs, failAttempts, failCode, noInput } = readContext(task.context);
  if (task.attempt <= failAttempts) {
    throw new TaskFailure(failCode, `The task asked for a failure of attempt ${task.attempt}`, { details: { failAttempts } });
  }
  const words = wordsOf(task.input);
  for (let index = 0; index < words.length; index += 1) {
    if (index > 0 && paceMs > 0) await wait(paceMs, signal);
    else if (index % WORDS_PER_TURN === 0) await turn();
    signal.throwIfAborted();
    context.write(words[index] ?? '');
    if (noInput) continue;
    // Also after the last word, until nothing arrived.
    for (const { text } of await context.input()) words.push('\n\n', ...wordsOf(text));
  }
  return {};
}

function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function readContext(context: unknown): z.infer<typeof contextSchema> {
  const read = contextSchema.safeParse(context);
  if (read.success) return read.data;
  const problems = read.error.issues.map((issue) => `context.${issue.path.join('.')}: ${issue.message}`);
  throw new TaskFailure('INVALID_INPUT', problems.join('; '), { details: { problems } });
}
