import { z } from 'zod';
import { agentIdSchema, capabilitySchema, durationSchema, executionFields, QUEUE_MODES, SOURCES } from '../config/index.ts';
import { attachmentSchema } from '../files/index.ts';
import { instantSchema } from '../time/index.ts';
import { prioritySchema } from './priority.ts';
import { newSessionIdSchema } from './ids.ts';

const shortText = z.string().min(1).max(200);
/** Any JSON. It was parsed from JSON: a schema of its own would check each value again, for nothing. */
export const jsonObjectSchema = z.record(z.string(), z.unknown());

export const requirementsSchema = z.strictObject({
  capabilities: z.array(capabilitySchema).max(50).optional(),
  targetDaemon: shortText.optional(),
  excludedDaemons: z.array(shortText).max(50).optional(),
  estimatedDurationMs: z.number().int().min(1).max(86_400_000).optional(),
  memoryMb: z.number().int().min(1).optional(),
  cpuIntensive: z.boolean().optional(),
});

/** The configuration bounds them besides. */
const MAX_ATTACHMENTS = 100;

export const executionSchema = z.strictObject(executionFields);

/** A text, or JSON for an agent whose input has a schema, which it is checked by once the agent is known. */
const taskInputSchema = z
  .union([
    z.string().regex(/\S/, 'expected a text that is not empty'),
    z.number(),
    z.boolean(),
    z.array(z.unknown()),
    z.record(z.string(), z.unknown()),
  ])
  .meta({ description: 'A text; for an agent whose input has a schema, JSON that fits it, or a text with such JSON.' });

/** What `POST /v1/tasks` takes. Sizes of `input`, `context` and `metadata` are bounded by the configuration besides. */
export const taskRequestSchema = z.strictObject({
  agent: agentIdSchema,
  input: taskInputSchema,
  system: z.string().min(1).max(100_000).optional(),
  session: newSessionIdSchema.optional(),
  priority: prioritySchema.optional(),
  mode: z.enum(QUEUE_MODES).optional(),
  source: z
    .enum(SOURCES)
    .optional()
    .meta({ description: '`api` by default, `delegation` with `parentTaskId`; the others but `proactive` are given by Muster itself.' }),
  /** The trigger's own id, with source `proactive`. */
  sourceId: shortText.optional(),
  channel: shortText.optional(),
  deadline: instantSchema.optional(),
  sla: instantSchema.optional(),
  scheduledFor: instantSchema.optional(),
  within: durationSchema
    .optional()
    .meta({ description: 'How long it may take, ms or text as `24h`: until then calls of its model may go by batches, at their price.' }),
  requirements: requirementsSchema.optional(),
  execution: executionSchema.optional(),
  parentTaskId: shortText.optional(),
  rerunOf: shortText.optional(),
  correlationId: shortText.optional(),
  context: jsonObjectSchema.optional(),
  metadata: jsonObjectSchema.optional(),
  attachments: z.array(attachmentSchema).max(MAX_ATTACHMENTS).optional().meta({ description: 'Files that the agent is given.' }),
  callbackUrl: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional(),
});

export type TaskRequest = z.infer<typeof taskRequestSchema>;

/** For a task that states no estimate. */
const DEFAULT_ESTIMATE_MS = 300_000;

/** How long a task is expected to run, in milliseconds. */
export function estimatedMs(requirements: TaskRequest['requirements'] | null): number {
  return requirements?.estimatedDurationMs ?? DEFAULT_ESTIMATE_MS;
}

/** Whether a value is nested more than so many levels deep: readers and writers of JSON recurse level by level. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** JSON in which the order of an object's members makes no difference. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => sorted(member));
  if (!isObject(value)) return value;
  const names = Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
