import { createHash } from 'node:crypto';
import type { AgentDefinition, Settings, Source } from '../../config/index.ts';
import type { RepeatRule } from '../../ledger/index.ts';
import { canonicalJson } from '../../tasks/index.ts';
import type { TextRequest } from './request.ts';

/** When equal inputs in a row of this request's source to its agent are warned of and held; null when they are not counted. */
export function repeatRuleOf(
  request: TextRequest,
  { sameInput: own = {} }: AgentDefinition,
  { runaways: { sameInput } }: Pick<Settings, 'runaways'>,
  source: Source,
): RepeatRule | null {
  if (own === false || request.skip) return null;
  const { sources = sameInput.sources, warn = sameInput.warn, hold = sameInput.hold, windowMs = sameInput.windowMs } = own;
  const rule = { warn, hold, windowMs, maxHeld: sameInput.maxHeld };
  return isCounted(rule, sources, source) ? { digest: digestOfInput(request), ...rule } : null;
}

function isCounted({ warn, hold }: Pick<RepeatRule, 'warn' | 'hold'>, sources: readonly Source[], source: Source): boolean {
  return (warn > 0 || hold > 0) && sources.includes(source);
}

/** Of all that the agent gets to read. The id of a webhook's delivery differs each time. */
function digestOfInput({ input, system, context, attachments }: TextRequest): string {
  const text = canonicalJson({ input, system, context: { ...context, delivery: undefined }, attachments });
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
