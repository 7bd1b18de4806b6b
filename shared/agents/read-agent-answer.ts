import { z } from 'zod';
import { type AgentContext, type AgentResult, type AgentUsage, modelNameSchema } from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';
import { parseExactJson } from '../text/index.ts';
import { readFinishReason } from '../providers/index.ts';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Tokens and millionths of a dollar are integers; a fraction is rounded. No sum of a day comes near what a number can hold. */
const count = z.number().min(0).max(1e12).transform(Math.round);

const usageSchema = z.strictObject({
  inputTokens: count.default(0),
  outputTokens: count.default(0),
  cachedInputTokens: count.optional(),
  reasoningTokens: count.optional(),
  /** Null is unknown, as absent. */
  costMicroUsd: count.nullish(),
  model: modelNameSchema.optional(),
  isEstimated: z.boolean().optional(),
});

/** What was used, as it was written down before. */
export const writtenUsageSchema = usageSchema.transform(agentUsage);

/** Unknown fields are refused: ignored, they would make an empty answer. */
const answerSchema = z.strictObject({
  output: z.string().optional(),
  result: z.unknown().optional(),
  usage: usageSchema.optional(),
  /** In the words of any provider. */
  finishReason: z.string().max(100).transform(readFinishReason).optional(),
});

/**
 * Checks the answer of foreign code: `{ output?, result?, usage?, finishReason? }`. Throws AGENT_ERROR, with the problems in `details`, for anything else.
 */
export function readAgentAnswer(answer: unknown): AgentResult {
  const read = answerSchema.safeParse(answer);
  if (!read.success) {
    const problems = problemsOf(read.error);
    throw new TaskFailure('AGENT_ERROR', `The answer is not { output?, result?, usage?, finishReason? }: ${problems.join('; ')}`, {
      details: { problems },
    });
  }
  const { output, result, usage, finishReason } = read.data;
  return {
    ...(output === undefined ? {} : { output }),
    ...(result === undefined ? {} : { result }),
    ...(usage === undefined ? {} : { usage: agentUsage(usage) }),
    ...(finishReason === undefined ? {} : { finishReason }),
  };
}

/** Checks what an agent says that it used. Throws AGENT_ERROR, with the problems in `details`, when that is no usage. */
export function readUsage(used: unknown): AgentUsage {
  const read = usageSchema.safeParse(used);
  if (read.success) return agentUsage(read.data);
  const problems = problemsOf(read.error);
  throw new TaskFailure('AGENT_ERROR', `The usage is not { inputTokens, outputTokens, ... }: ${problems.join('; ')}`, {
    details: { problems },
  });
}

function agentUsage({ inputTokens, outputTokens, ...rest }: z.infer<typeof usageSchema>): AgentUsage {
  const known = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null);
  return { inputTokens, outputTokens, ...Object.fromEntries(known) };
}

function problemsOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => `${issue.path.join('.') || '(whole)'}: ${issue.message}`);
}

/** The same for an answer as text. */
export function parseAgentAnswer(text: string): AgentResult {
  let answer: unknown;
  try {
    answer = parseExactJson(text, 'text');
  } catch (cause) {
    throw new TaskFailure('AGENT_ERROR', 'The answer is JSON that cannot be read', { cause });
  }
  return readAgentAnswer(answer);
}

const errorSchema = z.object({
  code: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/)
    .default('AGENT_ERROR'),
  message: z.string().max(2000).default('The endpoint reported an error'),
  retryAfterMs: z.number().int().min(1000).max(86_400_000).optional(),
});

/** Some endpoints end their stream with this line, as OpenAI's do. */
const DONE = '[DONE]';

/**
 * Reads the events of an `http` agent until its stream ends, or until `[DONE]`:
 *
 * - `output`, or no name: the data is text, appended to the output
 * - `progress`: the data is a note
 * - `usage`: the data is JSON of what was used since the last such event
 * - `result`: the data is JSON, `{ output?, result?, usage?, finishReason? }`; the last one counts
 * - `error`: the data is JSON, `{ code?, message?, retryAfterMs? }`; it fails the attempt with that code
 *
 * Events of other names are skipped, so that an endpoint can send more to other clients.
 * Rejects with the named failure, with AGENT_ERROR for data that cannot be read, and as the body does.
 */
export async function readHttpEvents(body: AsyncIterable<Uint8Array>, context: AgentContext): Promise<AgentResult> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  let answer: AgentResult = {};
  for await (const chunk of body) {
    context.signal.throwIfAborted();
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const event of events.splice(0)) {
      if (event.data === DONE && isOutput(event)) return answer;
      answer = readEvent(event, context) ?? answer;
    }
  }
  return answer;
}

function isOutput({ event }: EventSourceMessage): boolean {
  return event === undefined || event === 'output' || event === 'message';
}

function readEvent(event: EventSourceMessage, context: AgentContext): AgentResult | undefined {
  if (isOutput(event)) context.write(event.data);
  else if (event.event === 'progress') context.progress(event.data);
  else if (event.event === 'usage') context.reportUsage(readUsage(parse(event.data)));
  else if (event.event === 'result') return parseAgentAnswer(event.data);
  else if (event.event === 'error') throw readError(event.data);
  return undefined;
}

function readError(data: string): TaskFailure {
  const { code, message, retryAfterMs } = errorSchema.safeParse(parse(data)).data ?? { code: 'AGENT_ERROR', message: data.slice(0, 2000) };
  return new TaskFailure(code, message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
