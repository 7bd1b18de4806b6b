import { FormData, type RequestInit, type Response } from 'undici';
import { z } from 'zod';
import { TaskFailure } from '../../errors/index.ts';
import { parseJson, readProviderError } from '../../providers/index.ts';
import { addressBelow, keyHeaders } from '../endpoint/model-address.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';
import type { OpenaiEndpoint } from '../kinds/openai-endpoint.ts';
import { failureFromModelAnswer, failureFromNetwork, redactFailure } from '../network-failures.ts';
import { createSecretRedactor } from '../redactor.ts';

/** What a batch answers: all of these, at `/chat/completions` below the base URL. */
export const BATCH_ENDPOINT = '/v1/chat/completions';
/** The only one that OpenAI takes. */
const WINDOW = '24h';
/** Names our batch in the metadata of the provider's. */
const MARK = 'muster_batch';

const count = z.number().int().min(0).catch(0);
const batchSchema = z.object({
  id: z.string().min(1).max(200),
  status: z.string().max(50),
  created_at: z.number().catch(0),
  expires_at: z.number().nullish().catch(null),
  input_file_id: z.string().nullish().catch(null),
  output_file_id: z.string().nullish(),
  error_file_id: z.string().nullish(),
  request_counts: z.object({ total: count, completed: count, failed: count }).nullish().catch(null),
  metadata: z.record(z.string(), z.unknown()).nullish().catch(null),
  errors: z
    .object({ data: z.array(z.object({ message: z.string().nullish() })).nullish() })
    .nullish()
    .catch(null),
});
/** A batch as its provider has it. */
export type ProviderBatch = z.infer<typeof batchSchema>;

const fileSchema = z.object({ id: z.string().min(1).max(200), filename: z.string().nullish() });
const listOf = <Item extends z.ZodType>(item: Item): z.ZodObject<{ data: z.ZodArray<Item>; has_more: z.ZodCatch<z.ZodBoolean> }> =>
  z.object({ data: z.array(item), has_more: z.boolean().catch(false) });

/** Batches of an account that are searched for one, newest first. */
const PAGE = 100;
const MAX_PAGES = 20;

interface BatchRequestInit extends Pick<RequestInit, 'method' | 'body'> {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BatchClientOptions {
  readonly endpoint: OpenaiEndpoint;
  readonly fetch: GuardedFetch;
  /** Of one request. */
  readonly timeoutMs: number;
  /** Of one line of results. */
  readonly maxLineBytes: number;
  readonly now: () => number;
}

/**
 * BatchClient is responsible for the batches of one account at its provider, by [OpenAI's interface](https://platform.openai.com/docs/api-reference/batch).
 * What it does not get fails with a `TaskFailure`, as model calls do.
 */
export class BatchClient {
  readonly #options: BatchClientOptions;
  readonly #redact: (text: string) => string;

  constructor(options: BatchClientOptions) {
    this.#options = options;
    this.#redact = createSecretRedactor([options.endpoint.apiKey]);
  }

  /** Sends the file with the requests of a batch, of which `id` is ours. Returns its id there. */
  async upload(id: string, lines: readonly string[]): Promise<string> {
    const body = new FormData();
    body.set('purpose', 'batch');
    body.set('file', new File([`${lines.join('\n')}\n`], fileName(id), { type: 'application/jsonl' }));
    return (await this.#json('/files', { method: 'POST', body, headers: { 'idempotency-key': `file-${id}` } }, fileSchema)).id;
  }

  /** The file that was sent for a batch; null for none among the newest. */
  async findFile(id: string): Promise<string | null> {
    const { data } = await this.#json(`/files?purpose=batch&limit=${PAGE}`, {}, listOf(fileSchema));
    return data.find(({ filename }) => filename === fileName(id))?.id ?? null;
  }

  async create(id: string, file: string): Promise<ProviderBatch> {
    const made = { input_file_id: file, endpoint: BATCH_ENDPOINT, completion_window: WINDOW, metadata: { [MARK]: id } };
    const headers = { 'content-type': 'application/json', 'idempotency-key': `batch-${id}` };
    return await this.#json('/batches', { method: 'POST', body: JSON.stringify(made), headers }, batchSchema);
  }

  /** The batch there that was made for ours; null for none since `since`, ms since the epoch. */
  async find(id: string, since: number): Promise<ProviderBatch | null> {
    let after = '';
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { data, has_more: hasMore } = await this.#json(`/batches?limit=${PAGE}${after}`, {}, listOf(batchSchema));
      const found = data.find(({ metadata }) => metadata?.[MARK] === id);
      if (found) return found;
      const last = data.at(-1);
      if (!hasMore || last === undefined || last.created_at * 1000 < since) return null;
      after = `&after=${encodeURIComponent(last.id)}`;
    }
    return null;
  }

  async read(provider: string): Promise<ProviderBatch> {
    return await this.#json(`/batches/${encodeURIComponent(provider)}`, {}, batchSchema);
  }

  async cancel(provider: string): Promise<void> {
    await this.#json(`/batches/${encodeURIComponent(provider)}/cancel`, { method: 'POST' }, batchSchema);
  }

  async deleteFile(file: string): Promise<void> {
    await (await this.#send(`/files/${encodeURIComponent(file)}`, { method: 'DELETE' })).body?.cancel();
  }

  /** The lines of a file; null in the place of one that is too long. */
  async *lines(file: string): AsyncGenerator<string | null> {
    const response = await this.#send(`/files/${encodeURIComponent(file)}/content`, {});
    if (response.body === null) return;
    const { maxLineBytes } = this.#options;
    let line = new LongLine(maxLineBytes);
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      const [first = '', ...others] = piece.split('\n');
      line.add(first);
      for (const other of others) {
        yield line.text;
        line = new LongLine(maxLineBytes);
        line.add(other);
      }
    }
    yield line.text;
  }

  async #json<Schema extends z.ZodType>(path: string, init: BatchRequestInit, schema: Schema): Promise<z.infer<Schema>> {
    const response = await this.#send(path, init);
    const parsed = schema.safeParse(parseJson(await response.text()));
    if (parsed.success) return parsed.data;
    throw new TaskFailure('PROVIDER_ERROR', `The endpoint answered ${path.split('?')[0]} with what is none of OpenAI's forms`);
  }

  async #send(path: string, init: BatchRequestInit): Promise<Response> {
    const { endpoint, fetch, timeoutMs, now } = this.#options;
    const headers = { ...keyHeaders(endpoint.baseUrl, endpoint.apiKey), ...init.headers };
    const [name = '', query] = path.split('?');
    const address = `${addressBelow(endpoint.baseUrl, name)}${query === undefined ? '' : `?${query}`}`;
    const response = await this.#reach(() => fetch(address, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) }));
    if (response.ok) return response;
    const text = await this.#reach(() => response.text());
    const error = readProviderError(parseJson(text) ?? text, true) ?? undefined;
    const failure = failureFromModelAnswer({ status: response.status, headers: Object.fromEntries(response.headers), error }, now());
    throw redactFailure(failure, this.#redact);
  }

  async #reach<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw failureFromNetwork(error, this.#redact);
    }
  }
}

function fileName(id: string): string {
  return `muster-${id}.jsonl`;
}

/** LongLine is responsible for a line that comes in pieces, of which no more is kept than it may have. */
class LongLine {
  readonly #max: number;
  #text: string | null = '';

  constructor(max: number) {
    this.#max = max;
  }

  /** Null for one that is too long. */
  get text(): string | null {
    return this.#text;
  }

  add(piece: string): void {
    if (this.#text !== null) this.#text = this.#text.length + piece.length > this.#max ? null : this.#text + piece;
  }
}
