import { z } from 'zod';
import { TaskFailure } from '../../errors/index.ts';
import type { DaemonMessageToSend } from '../protocol.ts';

/** What an attempt used, as messages say it. */
export type Usage = NonNullable<Extract<DaemonMessageToSend, { type: 'task.completed' }>['usage']>;

/** A fraction is rounded, as a worker does: the hub takes integers only. */
const count = z.number().min(0).max(1e12).transform(Math.round);

const usageSchema = z.object({
  inputTokens: count.default(0),
  outputTokens: count.default(0),
  /** Null is unknown, as absent. */
  costMicroUsd: count.nullish(),
  model: z.string().min(1).max(200).optional(),
});

/** The fields of a usage that a message may have. Throws AGENT_ERROR for what is no usage: the hub would refuse the message each time. */
export function readUsage(used: unknown): Usage {
  const read = usageSchema.safeParse(used);
  if (!read.success) {
    const problems = read.error.issues.map(({ path, message }) => `${path.join('.') || '(whole)'}: ${message}`);
    throw new TaskFailure('AGENT_ERROR', `The usage is not { inputTokens, outputTokens, ... }: ${problems.join('; ')}`);
  }
  const { inputTokens, outputTokens, costMicroUsd, model } = read.data;
  return {
    inputTokens,
    outputTokens,
    ...(costMicroUsd === undefined || costMicroUsd === null ? {} : { costMicroUsd }),
    ...(model === undefined ? {} : { model }),
  };
}

/** The sum of reports with another one; null for none before it. */
export function addUsage(sum: Usage | null, each: Usage): Usage {
  if (sum === null) return each;
  const total: Usage = { ...sum, ...each };
  for (const field of ['inputTokens', 'outputTokens', 'costMicroUsd'] as const) {
    if (sum[field] !== undefined || each[field] !== undefined) total[field] = (sum[field] ?? 0) + (each[field] ?? 0);
  }
  return total;
}
