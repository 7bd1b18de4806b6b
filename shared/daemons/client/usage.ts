import { z } from 'zod';
import { type AgentUsage, modelNameSchema } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { type DaemonMessageToSend, MAX_AMOUNT, MAX_MODELS } from '../protocol.ts';

/** What an attempt used, as messages say it. */
export type Usage = NonNullable<Extract<DaemonMessageToSend, { type: 'task.completed' }>['usage']>;

/** A fraction is rounded, as a worker does. What is more than any attempt uses is a slip, and counts as the most. */
const amount = z
  .number()
  .min(0)
  .transform((value) => Math.min(MAX_AMOUNT, Math.round(value)));

/** Null is unknown, as absent. */
const usageSchema = z.object({
  inputTokens: amount.default(0),
  outputTokens: amount.default(0),
  cachedInputTokens: amount.nullish(),
  reasoningTokens: amount.nullish(),
  costMicroUsd: amount.nullish(),
  model: modelNameSchema.nullish(),
  isEstimated: z.boolean().nullish(),
});

/** The fields of a usage that a message may have. Throws AGENT_ERROR for what is no usage: the hub would refuse the message each time. */
export function readUsage(used: unknown): AgentUsage {
  const read = usageSchema.safeParse(used);
  if (!read.success) {
    const problems = read.error.issues.map(({ path, message }) => `${path.join('.') || '(whole)'}: ${message}`);
    throw new TaskFailure('AGENT_ERROR', `The usage is not { inputTokens, outputTokens, ... }: ${problems.join('; ')}`);
  }
  const { inputTokens, outputTokens, ...rest } = read.data;
  const known = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null);
  return { inputTokens, outputTokens, ...Object.fromEntries(known) };
}

/** Reports of an attempt, added up: an entry for each model, and another for reports with a cost of their own, because the hub prices the rest. */
export type UsageTotal = readonly AgentUsage[];

/** Adds a report to a total. What is of more models than a message names counts without a model. */
export function addUsage(total: UsageTotal, used: AgentUsage): UsageTotal {
  const at = total.findIndex((each) => each.model === used.model && hasCost(each) === hasCost(used));
  const known = total[at];
  if (known !== undefined) return total.with(at, sumOf(known, used));
  const { model, ...unnamed } = used;
  // The last two places are for what has no model, with a cost and without.
  return model === undefined || total.length < MAX_MODELS - 2 ? [...total, used] : addUsage(total, unnamed);
}

/** A total as messages say it; null for nothing. */
export function usageOfTotal(total: UsageTotal): Usage | null {
  const [first, ...others] = total;
  if (first === undefined) return null;
  return others.length === 0 ? first : { ...others.reduce(sumOf, first), byModel: [...total] };
}

/** The sum has the cost where both have one, and the model where it is that of both. */
function sumOf(one: AgentUsage, other: AgentUsage): AgentUsage {
  const sum = sumOfTokens(one, other);
  if (hasCost(one) && hasCost(other)) sum.costMicroUsd = one.costMicroUsd + other.costMicroUsd;
  if (one.model !== undefined && one.model === other.model) sum.model = one.model;
  if (one.isEstimated || other.isEstimated) sum.isEstimated = true;
  return sum;
}

function sumOfTokens(one: AgentUsage, other: AgentUsage): AgentUsage {
  const sum: AgentUsage = { inputTokens: one.inputTokens + other.inputTokens, outputTokens: one.outputTokens + other.outputTokens };
  for (const part of ['cachedInputTokens', 'reasoningTokens'] as const) {
    if (one[part] || other[part]) sum[part] = (one[part] ?? 0) + (other[part] ?? 0);
  }
  return sum;
}

function hasCost(used: AgentUsage): used is AgentUsage & { costMicroUsd: number } {
  return used.costMicroUsd !== undefined;
}

/** A message without its usage by model, with which it may be larger than the hub takes: the sum stays, with the costs that are known. */
export function withSumOnly<Message extends { usage?: Usage | null | undefined }>(message: Message): Message {
  if (!message.usage?.byModel) return message;
  const { byModel, ...usage } = message.usage;
  const known = byModel.flatMap(({ costMicroUsd }) => costMicroUsd ?? []);
  if (known.length === 0 || known.length === byModel.length) return { ...message, usage };
  const costMicroUsd = known.reduce((sum, cost) => sum + cost, 0);
  return { ...message, usage: { ...usage, costMicroUsd, isEstimated: true } };
}
