import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { refusalOfAddress } from '#shared/agents/index.ts';
import type { AgentMessage, Settings } from '#shared/config/index.ts';
import { hasCode, MusterError } from '#shared/errors/index.ts';
import { type AttachmentRequest, fileNameSchema, type FileStore, mediaTypeOf } from '#shared/files/index.ts';
import type { Call } from '#shared/http/index.ts';
import { readState } from '#shared/ledger/index.ts';
import { acceptTask, type AcceptRequest, idempotencyKeySchema, idempotencyOf, type Intake } from '#shared/queue/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { canonicalJson, type ModelRequest, newTaskId, taskRequestSchema } from '#shared/tasks/index.ts';
import { keyOf } from '../../tasks/submit-task.ts';
import { agentOf, modelNotFound } from '../models.ts';
import { type GivenFile, wrong } from './read-content.ts';

export interface AcceptPorts extends Intake {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly files: FileStore;
  readonly config: { readonly settings: Settings };
}

/** A task as a request asks for it. */
export interface AskedTask extends Pick<AcceptRequest, 'metadata'> {
  readonly model: string;
  readonly input: string;
  readonly system: string;
  readonly files: readonly GivenFile[];
  readonly request: ModelRequest;
  /** The session that it is a turn of, by its id. */
  readonly sessionOf?: (task: string) => string;
  /** Whether its caller waits for its end. */
  readonly isAwaited: boolean;
  /** What functions of the caller gave, where the request ends with that: a run may wait for it. */
  readonly outputs: readonly FunctionOutput[];
  /** The field that has the messages. */
  readonly param: string;
  /** Refuses calls without what they gave, and the reverse; only for a request that no run waits for. Errors: `request.invalid`. */
  readonly matchCalls?: () => void;
}

/** What a function of the caller gave, by the id of its call. */
export type FunctionOutput = Pick<Extract<AgentMessage, { role: 'tool' }>, 'callId' | 'text'>;

/** What a request is recognized by when it comes again. */
export interface Sent {
  readonly path: string;
  readonly body: unknown;
}

/** How long a request may come again without a key, ms: longer than a client waits for an answer. */
const REPEAT_MS = 1_800_000;

/**
 * Accepts the task of a request, or finds the one that it made before: by its `Idempotency-Key`, or where the client says that it sends it again, by its
 * key, path and body. Returns the task's id. Errors: `agent.unknown`, and as `acceptTask`.
 */
export async function acceptRequest(ports: AcceptPorts, call: Call, asked: AskedTask, sent: Sent): Promise<string> {
  const digest = hash('sha256', `${sent.path}\n${canonicalJson(sent.body)}`, 'base64url');
  const { isKnown, ...identity } = await identify(ports, call, digest);
  if (isKnown && identity.idempotencyKey === undefined) return identity.id;
  const origin = { tenant: call.tenant, traceparent: call.traceparent, ...keyOf(call) };
  // The files of a request that is known are kept already, and are no part of what is compared.
  return await acceptAsked(ports, isKnown ? { ...asked, files: [] } : asked, { ...origin, ...identity, idempotencyBody: digest });
}

type Origin = Pick<AcceptRequest, 'tenant' | 'traceparent' | 'keyId' | 'idempotencyKey' | 'idempotencyBody' | 'priority'>;

/** Accepts a task under an id, once. Returns the id of the task that there is then. Errors: `agent.unknown`, and as `acceptTask`. */
export async function acceptAsked(ports: AcceptPorts, asked: AskedTask, origin: Origin & { id: string }): Promise<string> {
  const { tenant, id, idempotencyKey } = origin;
  const agent = await agentOf(ports, tenant, asked.model);
  const definition = idempotencyKey === undefined || asked.request.format ? await ports.findAgent(tenant, agent) : null;
  if (idempotencyKey === undefined && !definition) throw modelNotFound(asked.model);
  if (asked.request.format && definition && definition.kind !== 'openai') throw unformatted(asked, agent);
  refuseUnreachable(asked.files, ports.config.settings.outbound.allowNetworks);
  const attachments = await storeFiles(ports.files, tenant, asked.files);
  const accepted = await acceptTask(ports, {
    ...fieldsOf({ ...asked, model: agent }, id),
    ...origin,
    source: 'api',
    channel: 'openai',
    ...(attachments.length > 0 && { attachments }),
  }).catch((error: unknown) => {
    throw hasCode(error, 'agent.unknown') ? modelNotFound(asked.model) : error;
  });
  return accepted.id;
}

/** Only a model of an endpoint is given a schema. */
function unformatted({ request: { kind } }: AskedTask, agent: string): Error {
  const param = kind === 'response' ? 'text.format' : 'response_format';
  return wrong(param, `expected the type "text": "${agent}" is no agent of the kind "openai", and takes no format`);
}

const MAX_SYSTEM = taskRequestSchema.shape.system;

function fieldsOf({ model, input, system, request, isAwaited, sessionOf, metadata }: AskedTask, id: string): Omit<AcceptRequest, 'tenant'> {
  if (system !== '' && !MAX_SYSTEM.safeParse(system).success) throw wrong('instructions', 'expected at most 100,000 characters');
  return {
    agent: model,
    input,
    request,
    ...(system !== '' && { system }),
    ...(isAwaited && { isAwaited }),
    ...(sessionOf && { session: sessionOf(id) }),
    ...(metadata !== undefined && { metadata }),
  };
}

interface Identity {
  /** Of the task, also of one that is not made yet. */
  readonly id: string;
  /** Whether there is a task of this request. */
  readonly isKnown: boolean;
  readonly idempotencyKey?: string;
}

/** A client that sends its requests again by itself counts how often, and gives them no key. */
const COUNT_HEADER = 'x-stainless-retry-count';

async function identify(ports: AcceptPorts, call: Call, digest: string): Promise<Identity> {
  const { 'idempotency-key': given, [COUNT_HEADER]: count } = call.headers;
  if (given !== undefined) return await identifyByKey(ports, call.tenant, given);
  if (count === undefined) return { id: newTaskId(), isKnown: false };
  return await identifySent(ports, call, { digest, isAgain: count !== '0' });
}

async function identifyByKey({ redis, keys }: AcceptPorts, tenant: string, given: unknown): Promise<Identity> {
  const parsed = idempotencyKeySchema.safeParse(given);
  if (!parsed.success) throw new MusterError('request.invalid', 'Idempotency-Key: expected 1 to 255 visible ASCII characters');
  const { idempotencyKey = '' } = idempotencyOf(parsed.data);
  const isKnown = (await redis.exists(keys.tenant(tenant).idempotency(idempotencyKey))) === 1;
  return { id: newTaskId(), isKnown, idempotencyKey };
}

async function identifySent(
  { redis, keys, ledger }: AcceptPorts,
  { tenant, key }: Call,
  { digest, isAgain }: { digest: string; isAgain: boolean },
): Promise<Identity> {
  const sent = keys.tenant(tenant).sentRequest(hash('sha256', `${key?.id ?? ''} ${digest}`, 'base64url'));
  const id = (isAgain ? await redis.get(sent) : null) ?? newTaskId();
  if (isAgain) return { id, isKnown: (await readState(ledger, tenant, id)) !== null };
  // Before the task: one that was accepted without an answer is found.
  await redis.set(sent, id, 'PX', REPEAT_MS);
  return { id, isKnown: false };
}

/** An address that names a machine no call may reach would only fail its task. Errors: `request.invalid`. */
function refuseUnreachable(files: readonly GivenFile[], allowNetworks: readonly string[]): void {
  for (const file of files) {
    const refusal = file.kind === 'url' ? refusalOfAddress(file.url, allowNetworks) : null;
    if (file.kind === 'url' && refusal !== null) throw wrong(file.param, refusal);
  }
}

/** Keeps the files of a request for its task. Errors: `request.too-large`, and as `FileStore.upload`. */
async function storeFiles(store: FileStore, tenant: string, files: readonly GivenFile[]): Promise<AttachmentRequest[]> {
  const { maxPerTask, maxFileBytes } = store.settings;
  if (files.length > maxPerTask)
    throw new MusterError('request.too-large', `A request has at most ${maxPerTask} files, not ${files.length}`);
  const stored: AttachmentRequest[] = [];
  for (const file of files) {
    if (file.kind === 'url') stored.push({ url: file.url });
    else if (file.kind === 'upload') stored.push({ uploadId: file.id });
    else if (file.data.length > maxFileBytes) throw new MusterError('request.too-large', `A file has at most ${maxFileBytes} bytes`);
    else stored.push(await storeFile(store, tenant, file));
  }
  return stored;
}

async function storeFile(
  store: FileStore,
  tenant: string,
  { name, mediaType, data }: Extract<GivenFile, { kind: 'data' }>,
): Promise<AttachmentRequest> {
  const cleanName = fileNameSchema.parse(name);
  const described = { name: cleanName, mediaType: mediaTypeOf(cleanName, mediaType) };
  const { file } = await store.upload(tenant, described, Readable.from([data]));
  return { uploadId: file };
}
