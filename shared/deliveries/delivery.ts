import { z } from 'zod';
import { toIso } from '../time/index.ts';

/** What is delivered of the end of a task. */
export const END_KINDS = ['reply', 'callback'] as const;
/** `question`: what the run of a task asks, which goes to its `callbackUrl` too. */
export const DELIVERY_KINDS = [...END_KINDS, 'question'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/** `unknown`: it may or may not have arrived; nothing is sent again without a request to. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'unknown'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const errorSchema = z.strictObject({ code: z.string(), message: z.string() });
export type DeliveryError = z.infer<typeof errorSchema>;

const partSchema = z.strictObject({
  index: z.int(),
  /** The platform's id of the message; null while it is being posted, and from then on when the process died meanwhile. */
  messageId: z.string().nullable(),
  /** Of the text that the message has; null while that is unknown. */
  digest: z.string().nullable(),
  /** Whether this is the last text it gets. */
  isFinal: z.boolean(),
});
export type DeliveryPart = z.infer<typeof partSchema>;

/** `sending`: being sent, or its process died meanwhile. `left-out`: beyond the bounds, or the platform takes no files. */
const FILE_STATUSES = ['pending', 'sending', 'sent', 'refused', 'unknown', 'left-out'] as const;

const fileSchema = z.strictObject({
  /** The artifact's name. */
  name: z.string(),
  status: z.enum(FILE_STATUSES),
  /** The platform's id of its message; null until it is known. */
  messageId: z.string().nullable(),
});
export type DeliveryFile = z.infer<typeof fileSchema>;

const askedSchema = z.strictObject({
  /** The question. */
  id: z.string(),
  /** When it was to be posted first. */
  at: z.number(),
  /** Posts that were due when it was posted last, or may have been: the first, and each reminder. */
  posts: z.int(),
  /** The platform's ids of its messages. */
  messages: z.array(z.string()),
  /** Whether these show how it ended. */
  isClosed: z.boolean(),
});
export type AskedQuestion = z.infer<typeof askedSchema>;

/** A delivery as it is kept. Times are milliseconds since the epoch. */
export const deliverySchema = z.strictObject({
  id: z.string(),
  tenant: z.string(),
  task: z.string(),
  kind: z.enum(DELIVERY_KINDS),
  /** The chat platform; null where it goes to a `callbackUrl`, and until a process worked on it. */
  platform: z.string().nullable(),
  status: z.enum(DELIVERY_STATUSES),
  parts: z.array(partSchema),
  /** The artifacts that go into the chat after the text; absent while there are none. */
  files: z.array(fileSchema).optional(),
  /** Tries that failed and count. */
  attempts: z.int(),
  error: errorSchema.nullable(),
  createdAt: z.number(),
  deliveredAt: z.number().nullable(),
  nextTryAt: z.number().nullable(),
  /** Counts the requested retries and the later ends of its task: each has a job of its own. */
  number: z.int(),
  /** Counts the ends that its task had before this one: a task that is opened again ends again. Of a question those before it. */
  turn: z.int(),
  /** When the task ended, so far as it is known; of a question when it was asked. */
  endedAt: z.number().nullable(),
  /** When it was opened the last time; its age is counted from the task's end or from here, whichever is later. */
  openedAt: z.number(),
  /** Whether the notice of how long the message waited was sent. */
  isNoticed: z.boolean(),
  /** What the chat was told of the task's wait last, in the words of its event; absent for nothing. */
  waitNotice: z.string().optional(),
  /** What its run asked in the chat last; absent for nothing. */
  asked: askedSchema.optional(),
  /** A new random word for each process that takes it, so that a process that was frozen meanwhile writes nothing. */
  holder: z.string(),
});
export type Delivery = z.infer<typeof deliverySchema>;

export interface DeliveryKey {
  tenant: string;
  task: string;
  kind: DeliveryKind;
}

/** What every delivery's id looks like: its task's and its kind. */
export const DELIVERY_ID: RegExp = /^[0-9A-HJKMNP-TV-Z]{26}-(?:reply|callback|question)$/;

export function deliveryId({ task, kind }: Pick<DeliveryKey, 'task' | 'kind'>): string {
  return `${task}-${kind}`;
}

/** A delivery that no process worked on yet. */
export function newDelivery({ tenant, task, kind }: DeliveryKey, now: number): Delivery {
  return {
    id: deliveryId({ task, kind }),
    tenant,
    task,
    kind,
    platform: null,
    status: 'pending',
    parts: [],
    attempts: 0,
    error: null,
    createdAt: now,
    deliveredAt: null,
    nextTryAt: null,
    number: 0,
    turn: 0,
    endedAt: null,
    openedAt: now,
    isNoticed: false,
    holder: '',
  };
}

const instant = z.iso.datetime().nullable();

/** A delivery as callers see it. */
export const deliveryViewSchema = z
  .strictObject({
    ...deliverySchema.pick({ id: true, task: true, kind: true, platform: true, status: true, parts: true, attempts: true, error: true })
      .shape,
    createdAt: instant,
    deliveredAt: instant,
    nextTryAt: instant,
  })
  .meta({ id: 'Delivery' });

export function deliveryView(delivery: Delivery): z.infer<typeof deliveryViewSchema> {
  const { id, task, kind, platform, status, parts, attempts, error, createdAt, deliveredAt, nextTryAt } = delivery;
  const times = { createdAt: toIso(createdAt), deliveredAt: toIso(deliveredAt), nextTryAt: toIso(nextTryAt) };
  return { id, task, kind, platform, status, parts, attempts, error, ...times };
}
