import { z } from 'zod';
import { parseJson, readProviderError } from '../../providers/index.ts';
import { truncate } from '../../text/index.ts';

const MAX_REASON = 300;

const lineSchema = z.object({
  custom_id: z.string(),
  response: z.object({ status_code: z.number(), body: z.unknown() }).nullish(),
  error: z.object({ code: z.string().nullish(), message: z.string().nullish() }).nullish(),
});

const completionSchema = z.looseObject({ choices: z.array(z.looseObject({ message: z.looseObject({}) })).min(1) });

/** What a line of a provider's results says of one request: the body of its answer, or why there is none. */
export interface BatchResult {
  readonly customId: string;
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly reason: string;
}

/** Reads a line of results; null for what is none. */
export function readResult(line: string): BatchResult | null {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return null;
  const { custom_id: customId, response } = parsed.data;
  const completion = completionSchema.safeParse(response?.body);
  if (response?.status_code === 200 && completion.success && readProviderError(response.body) === null)
    return { customId, body: completion.data, reason: '' };
  const status = response ? ` with ${response.status_code}` : '';
  return { customId, body: null, reason: truncate(`the batch refused the call${status}: ${refusalOf(parsed.data)}`, MAX_REASON) };
}

function refusalOf({ response, error }: z.infer<typeof lineSchema>): string {
  const inBody = response ? readProviderError(response.body, true)?.message : '';
  return inBody || error?.message || error?.code || 'it has no answer';
}
