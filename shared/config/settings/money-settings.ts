import { z } from 'zod';
import { MAX_KEPT_MS } from './durations.ts';
import { int, nameSchema } from '../fields.ts';
import { SOURCES } from '../sources.ts';

/** What a million tokens cost, in US dollars. */
const usdPerMTok = z.number().min(0).max(1_000_000).optional();

/** A model's name, as agents name it. */
export const modelNameSchema = z
  .string()
  .min(1)
  .max(200)
  // oxlint-disable-next-line no-control-regex -- these are the ones to refuse
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'expected text without control characters');

/** What is known of a model; without both prices its cost is unknown. */
const modelSchema = z.strictObject({
  /** US dollars for a million input tokens. */
  inputUsdPerMTok: usdPerMTok,
  /** US dollars for a million output tokens, reasoning included. */
  outputUsdPerMTok: usdPerMTok,
  /** US dollars for a million input tokens that the provider had cached. Defaults to `inputUsdPerMTok`. */
  cachedUsdPerMTok: usdPerMTok,
  /** Output tokens at most of a call that names no bound. Defaults to `modelCalls.maxOutputTokens` where the model has a price. */
  maxOutputTokens: z.number().int().min(1).max(10_000_000).optional(),
  /** Models that are called instead, in this order, while it takes no calls, is slow or fails. Of the same endpoint, unless they have `endpointOf`. */
  fallback: z.array(modelNameSchema).max(10).optional(),
  /** As a fallback it is called at the endpoint of this `openai` agent of the configuration, with that agent's key. */
  endpointOf: nameSchema.optional(),
  /** It is slow when the slowest twentieth of its answers begins later than this, in milliseconds. Defaults to no bound. */
  maxP95Ms: z.number().int().min(1).optional(),
});

/** Models by name. */
export const modelsSchema = z.record(modelNameSchema, modelSchema).default({});
export type ModelSettings = z.infer<typeof modelsSchema>;

const writtenSchema = z
  .object({
    agents: z.record(z.string(), z.object({ kind: z.string() }).catch({ kind: '' })).catch({}),
    models: z.record(z.string(), z.object({ endpointOf: z.string().optional().catch(undefined) }).catch({})).catch({}),
  })
  .catch({ agents: {}, models: {} });

/** Models whose `endpointOf` names no `openai` agent of the configuration, one line each. Takes the file as it was written. */
export function endpointProblems(written: unknown): string[] {
  const { agents, models } = writtenSchema.parse(written);
  return Object.entries(models).flatMap(([model, { endpointOf }]) =>
    endpointOf === undefined || agents[endpointOf]?.kind === 'openai'
      ? []
      : [`models.${model}.endpointOf: there is no agent "${endpointOf}" of the kind openai in "agents"`],
  );
}

/** A schedule repeats its message on purpose. */
const repeatedSources = z.array(z.enum(SOURCES.filter((source) => source !== 'schedule'))).max(SOURCES.length);

/** What an agent may say of equal inputs in a row, where `runaways.sameInput` says something else. */
export const ownSameInputSchema = z.union([
  z.literal(false),
  z.strictObject({
    warn: z.number().int().min(0).optional(),
    hold: z.number().int().min(0).optional(),
    windowMs: z.number().int().min(1000).max(MAX_KEPT_MS).optional(),
    sources: repeatedSources.optional(),
  }),
]);

const sameInputSchema = z.strictObject({
  /** The tenant is notified of so many equal inputs in a row, once a window; 0 for never. Defaults to 100. */
  warn: int(100, 0),
  /** After so many equal inputs in a row further ones are held; 0 for no bound. Defaults to 500. */
  hold: int(500, 0),
  /** Equal inputs count together within so long, and an input is held no more when none came for so long. In milliseconds. Defaults to an hour. */
  windowMs: int(3_600_000, 1000),
  /** Sources whose tasks are counted, each by itself. Defaults to `['webhook', 'delegation']`. */
  sources: repeatedSources.default(['webhook', 'delegation']),
  /** Tasks that one input holds; further ones are refused. Defaults to 1000. */
  maxHeld: int(1000),
});

/** When work that does not end by itself is cut. */
export const runawaySettingsSchema = z.strictObject({
  /** Delegations one after another, from a task to its last descendant. Defaults to 20. */
  maxDepth: int(20),
  /** Tasks that descend from one. Defaults to 1000. */
  maxDescendants: int(1000),
  /** What a task and all that it leads to may cost, in millionths of a US dollar; 0 for no bound, which is the default. */
  maxCostMicroUsd: int(0, 0),
  /** Tokens, in and out, that a task and all that it leads to may use; 0 for no bound, which is the default. */
  maxTokens: int(0, 0),
  /** How long after a task's first descendant there may be others, in milliseconds. Defaults to 7 days. */
  maxTreeMs: int(604_800_000),
  /** Tasks that tasks of one tenant may make within a minute. Defaults to 3000. */
  maxMadePerMinute: int(3000),
  /** Tasks of one agent and tenant that fail for good in a row, after which its tasks are held; 0 for no bound. Defaults to 100. */
  maxFailures: int(100, 0),
  /** A task that such failures hold is checked again after so long, in milliseconds. Defaults to 30 minutes. */
  maxHoldMs: int(1_800_000, 1000),
  /** Equal inputs in a row to one agent of a tenant, by one source; `false` neither warns nor holds. */
  sameInput: z
    .union([z.literal(false), sameInputSchema])
    .prefault({})
    .transform((given) => (given === false ? sameInputSchema.parse({ warn: 0, hold: 0 }) : given)),
});

/** Names the budget that `runaways.maxCostMicroUsd` is. No other budget has such a name. */
export const RUNAWAY_BUDGET = 'runaways.maxCostMicroUsd';

/** What is kept of what agents used. */
export const usageSettingsSchema = z.strictObject({
  /** Rows of one tenant and day: one per agent, model and source. What comes beyond is counted as `other`. Defaults to 500. */
  maxRows: int(500),
  /** Days that usage is kept. Defaults to 366. */
  retentionDays: int(366),
  /** Days of tenants that one request reads at most; a request for more is refused. Defaults to 20,000. */
  maxRead: int(20_000),
});
