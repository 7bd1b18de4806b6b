import { z } from 'zod';
import { int, nameSchema, readNetwork } from '../fields.ts';

/** Bounds of the HTTP server. */
export const httpSettingsSchema = z
  .strictObject({
    maxBodyBytes: int(1_048_576),
    /** Objects and lists in each other, in a JSON body of the API or of a chat platform. */
    maxBodyDepth: int(128),
    /** Members and elements in all of such a body; a bulk request may have as many times more as it may have bytes. */
    maxBodyValues: int(20_000),
    /** Bytes of what callers wrote, from which on a page of a list ends early. */
    maxListBytes: int(4_194_304),
    /** Items of one bulk request. */
    maxBulk: int(1000),
    /** Longest `waitMs`. */
    maxWaitMs: int(60_000),
    /** Open event streams of one process. */
    maxStreams: int(1000),
    /** Of these, one tenant's, one key's, and one visitor's token's. */
    maxStreamsPerTenant: int(800),
    maxStreamsPerKey: int(400),
    maxStreamsPerVisitor: int(10),
    /** Bytes of request bodies that one process holds at once, in all and of one address; an IPv6 network of 64 bits counts as one. */
    maxOpenBodyBytes: int(268_435_456),
    maxOpenBodyBytesPerAddress: int(67_108_864),
    /** How long a body may come without a byte. */
    bodyIdleMs: int(10_000, 10),
    /**
     * How long an answer of OpenAI's protocol that is awaited has no headers, so that one that fails has a status of its own; proxies in front have to wait
     * for longer.
     */
    awaitedHeadersMs: int(25_000, 10),
    /** How long the reader of an event stream may leave what was written unread. */
    slowReaderMs: int(30_000, 10),
    /** Between two checks of an open event stream whether its key, its sign-in or its tenant is still what opened it. */
    streamCheckMs: int(5000, 100),
    /** How long a browser stays signed in, whatever happens in it. */
    signInMs: int(12 * 3_600_000, 60_000),
  })
  .prefault({});

/** Bounds of webhooks and their templates. */
export const webhookSettingsSchema = z.strictObject({
  /** GitHub sends up to 25 MB. */
  maxBodyBytes: int(26_214_400),
  /** Objects and lists in each other, and members and elements in all of one body. */
  maxBodyDepth: int(128),
  maxBodyValues: int(250_000),
  templates: z
    .strictObject({
      /** Tags of one template, and sections in each other. */
      maxTags: int(500),
      maxDepth: int(20),
      /** Tags, elements of lists and names looked up, before the rest of a template is left out. */
      maxSteps: int(100_000),
    })
    .prefault({}),
  maxHooksPerTenant: int(1000),
  /**
   * How long a delivery without an id is taken for a repeat of one that is equal in what was signed, the time included: longer than a sender
   * waits before it sends again, shorter than what happens twice. Defaults to two minutes.
   */
  repeatMs: int(120_000, 1000),
  /** How long after a change of a hook's secret the former one is valid, too. Defaults to a day. */
  secretOverlapMs: int(86_400_000, 0),
  deliveries: z
    .strictObject({
      /** Newest deliveries of a hook that are kept: so many that were accepted, and so many that were refused. */
      keep: z.number().int().min(1).max(1000).default(20),
      /** Bytes of a kept payload. Of a longer one the beginning is kept, of one over 64 KiB nothing, and neither can be replayed. */
      maxBytes: z.number().int().min(0).max(65_536).default(32_768),
      /** How long after the last delivery of a hook its deliveries are kept. Defaults to a week. */
      retentionMs: int(604_800_000),
    })
    .prefault({}),
});

/** The event stream of a tenant and its readers, and events that runs wait for. */
export const eventSettingsSchema = z
  .strictObject({
    /** Entries of a tenant's event stream. */
    maxPerTenant: int(10_000),
    /** Between two comments on a stream of notifications. */
    commentMs: int(30_000, 10),
    /** Between two reads of a stream of notifications, should no message announce something new. */
    pollMs: int(2000, 10),
    /** How long an event that runs wait for is kept for runs that begin to wait. Defaults to an hour. */
    keepMs: int(3_600_000),
    /** Events of one tenant that are kept for runs; the oldest go first. */
    maxKept: int(10_000),
    /** Bytes of JSON that the data of an event for runs may have. */
    maxBytes: int(65_536),
  })
  .prefault({});

/** What is served in OpenAI's protocol. */
export const openaiSettingsSchema = z
  .strictObject({
    /** Names of models that programs say, and the agent that each stands for where there is no agent of that name. */
    models: z.record(z.string().min(1).max(200), nameSchema).default({}),
    /** Bytes of JSON that a task keeps of its request besides its input and instructions: earlier messages, and functions of the caller. */
    maxRequestBytes: int(1_048_576),
    /** Conversations of one tenant that are kept; the one that was used longest ago goes first. */
    maxConversations: int(100_000),
    /** Items that are added to one conversation besides its turns; they have `openai.maxRequestBytes` together. */
    maxConversationItems: int(1000),
    /** Batches of one tenant that are kept, the ended ones included; the oldest ended ones go first. */
    maxBatches: int(100),
    /** Requests of one batch. */
    maxBatchRequests: int(10_000),
    /** Requests of one batch that are tasks before the first of these has ended. */
    batchAhead: int(50),
    /** How long a batch may take; requests that are no tasks by then are not made. */
    batchMs: int(86_400_000, 1000),
    /** How long a run waits for what functions of its caller gave; then it ends with what it said. */
    callerWaitMs: z.number().int().min(1000).max(3_600_000).default(3_600_000),
  })
  .prefault({});

/** What calls to others may reach and read. */
export const outboundSettingsSchema = z
  .strictObject({
    /** Networks that `http` agents and callbacks may reach although they are not public, as CIDR. */
    allowNetworks: z
      .array(z.string().refine((text) => readNetwork(text) !== null, 'expected a network such as 10.0.0.0/8, or an address'))
      .default([]),
    /** Bytes of an `http` agent's answer, and of one event of a model's. */
    maxResponseBytes: int(4_194_304),
  })
  .prefault({});
