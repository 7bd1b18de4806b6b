import { z } from 'zod';
import type { AgentUsage } from '../../../../config/index.ts';
import { amount } from '../preset.ts';
import { changesSchema } from './codex-approvals.ts';
import type { CodexItem } from './codex-turn.ts';

// The forms of Codex 0.171, in which those of 0.110 are too: `codex app-server generate-ts` writes them.

export const threadAnswer = z.object({
  thread: z.object({ id: z.string().min(1).max(200) }),
  model: z.string().max(200).optional().catch(undefined),
  approvalPolicy: z.unknown().optional(),
});

export const turnAnswer = z.object({ turn: z.object({ id: z.string().max(200) }) });

/** Why a turn failed, with the status of its provider where that has answered. */
const errorSchema = z.object({
  message: z.string(),
  codexErrorInfo: z
    .record(z.string(), z.object({ httpStatusCode: z.number().nullish() }))
    .optional()
    .catch(undefined),
});

const breakdown = z.object({
  inputTokens: amount,
  cachedInputTokens: amount,
  outputTokens: amount,
  reasoningOutputTokens: amount,
});

const where = { threadId: z.string().max(200) };
const item = z.looseObject({ type: z.string(), id: z.string().max(200), changes: changesSchema.optional().catch(undefined) });

/** Notifications that say something of a run; of others, as pieces of a text that comes whole, it asks for none. */
export const NOTIFICATIONS = {
  'item/started': z.object({ ...where, item }),
  'item/completed': z.object({ ...where, item }),
  'item/fileChange/patchUpdated': z.object({ ...where, itemId: z.string().max(200), changes: changesSchema }),
  'thread/tokenUsage/updated': z.object({ ...where, turnId: z.string(), tokenUsage: z.object({ total: breakdown, last: breakdown }) }),
  'turn/completed': z.object({
    ...where,
    turn: z.object({ id: z.string(), status: z.string(), error: errorSchema.nullish().catch(null) }),
  }),
  error: z.object({ ...where, error: errorSchema }),
  'serverRequest/resolved': z.object({ requestId: z.union([z.number(), z.string()]) }),
};

type Notifications = typeof NOTIFICATIONS;
export type CodexNotification = {
  [Method in keyof Notifications]: { method: Method; params: z.infer<Notifications[Method]> };
}[keyof Notifications];
export type ItemOf = z.infer<typeof item>;

export const UNWANTED = [
  'item/agentMessage/delta',
  'item/plan/delta',
  'item/reasoning/summaryTextDelta',
  'item/reasoning/summaryPartAdded',
  'item/reasoning/textDelta',
  'item/commandExecution/outputDelta',
  'item/fileChange/outputDelta',
  'turn/diff/updated',
];

/** A notification in its form; null for one that says nothing of a run, or has another form. */
export function readNotification(method: string, params: unknown): CodexNotification | null {
  if (!Object.hasOwn(NOTIFICATIONS, method)) return null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is one of its own names
  const known = method as keyof Notifications;
  const read = NOTIFICATIONS[known].safeParse(params);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema is that of its method
  return read.success ? ({ method: known, params: read.data } as CodexNotification) : null;
}

export function usageOf(used: z.infer<typeof breakdown>): AgentUsage {
  return {
    inputTokens: used.inputTokens,
    outputTokens: used.outputTokens,
    cachedInputTokens: used.cachedInputTokens,
    reasoningTokens: used.reasoningOutputTokens,
  };
}

/** The status of the provider, where an error has one. */
export function statusOf({ codexErrorInfo = {} }: z.infer<typeof errorSchema>): number | undefined {
  return Object.values(codexErrorInfo).find(({ httpStatusCode }) => httpStatusCode != null)?.httpStatusCode ?? undefined;
}

const text = z.string().optional().catch(undefined);
const detailsSchema = z.object({ text, command: text, query: text, server: text, tool: text, message: text });
const kindSchema = z.object({ type: z.string() });

/** What it does, under the names of `exec --json`. */
export function itemOf(given: ItemOf): CodexItem {
  const changes = (given.changes ?? []).map(({ path, kind }) => ({ path, kind: kindSchema.safeParse(kind).data?.type ?? 'update' }));
  return { ...detailsSchema.parse(given), type: given.type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), changes };
}
