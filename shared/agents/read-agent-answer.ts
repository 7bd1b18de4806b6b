import { z } from 'zod';
import type { AgentResult } from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';

/** Tokens and millionths of a dollar are integers; a fraction is rounded. */
const count = z.number().min(0).max(Number.MAX_SAFE_INTEGER).transform(Math.round).default(0);

/** Unknown fields are refused: ignored, they would make an empty answer. */
const answerSchema = z.strictObject({
  output: z.string().optional(),
  result: z.unknown().optional(),
  usage: z.strictObject({ inputTokens: count, outputTokens: count, costMicroUsd: count }).optional(),
});

/**
 * Checks the answer of foreign code: `{ output?, result?, usage? }`. Throws AGENT_ERROR, with the problems in `details`, for anything else.
 */
export function readAgentAnswer(answer: unknown): AgentResult {
  const read = answerSchema.safeParse(answer);
  if (!read.success) {
    const problems = read.error.issues.map((issue) => `${issue.path.join('.') || '(whole)'}: ${issue.message}`);
    throw new TaskFailure('AGENT_ERROR', `The answer is not { output?, result?, usage? }: ${problems.join('; ')}`, {
      details: { problems },
    });
  }
  const { output, result, usage } = read.data;
  return {
    ...(output === undefined ? {} : { output }),
    ...(result === undefined ? {} : { result }),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** The same for an answer as text. */
export function parseAgentAnswer(text: string): AgentResult {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new TaskFailure('AGENT_ERROR', 'The answer is JSON that cannot be read', { cause });
  }
  return readAgentAnswer(answer);
}
