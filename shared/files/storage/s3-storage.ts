import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { MusterError } from '../../errors/index.ts';
import { type Clock, systemClock } from '../../time/index.ts';
import type { FilePlace, FileStorage, SpooledFile } from './file-storage.ts';
import { type S3Credentials, signS3Request } from './s3-signature.ts';

export interface S3StorageOptions extends S3Credentials {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly timeoutMs: number;
  /** Defaults to the system's. */
  readonly clock?: Clock;
}

interface S3Call {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Name of the object; empty for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly spooled?: SpooledFile;
}

const RETRY_MS = 5000;

/**
 * S3Storage is responsible for files in a bucket of S3 or of a server with its protocol, named by path. It needs four calls of that
 * protocol, signed by its own few lines: the official client brings some forty packages for them.
 */
export class S3Storage implements FileStorage {
  readonly #options: S3StorageOptions;

  constructor(options: S3StorageOptions) {
    this.#options = options;
  }

  identify(): Promise<string> {
    const { endpoint, bucket, prefix } = this.#options;
    return Promise.resolve(`${endpoint}/${bucket}/${prefix}`);
  }

  async write(place: FilePlace, spooled: SpooledFile): Promise<void> {
    await this.#drain(await this.#call({ method: 'PUT', key: this.#keyOf(place), spooled }));
  }

  async read(place: FilePlace): Promise<Readable | null> {
    const { statusCode, body } = await this.#call({ method: 'GET', key: this.#keyOf(place) });
    if (statusCode !== 404) return body;
    await body.dump();
    return null;
  }

  async remove(place: FilePlace): Promise<void> {
    await this.#removeKey(this.#keyOf(place));
  }

  /** One by one: servers that are like S3 differ in how they remove many at once. */
  async removeTenant(tenant: string): Promise<void> {
    const prefix = `${this.#options.prefix}${tenant}/`;
    for (let keys = await this.#list(prefix); keys.length > 0; keys = await this.#list(prefix)) {
      for (const key of keys) await this.#removeKey(key);
    }
  }

  async #removeKey(key: string): Promise<void> {
    await this.#drain(await this.#call({ method: 'DELETE', key }));
  }

  /** The first names under a prefix. */
  async #list(prefix: string): Promise<string[]> {
    const { body } = await this.#call({ method: 'GET', query: { 'list-type': '2', 'max-keys': '500', prefix } });
    // Names are of our own making, and hold nothing that XML escapes.
    return [...(await body.text()).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key);
  }

  #keyOf({ tenant, file }: FilePlace): string {
    return `${this.#options.prefix}${tenant}/${file}`;
  }

  async #drain({ body }: Dispatcher.ResponseData): Promise<void> {
    await body.dump();
  }

  /** Answers of 2xx, and of 404. Errors: `unavailable.files`. */
  async #call(call: S3Call): Promise<Dispatcher.ResponseData> {
    const { timeoutMs } = this.#options;
    const answer = await this.#send(call).catch((cause: unknown) => {
      throw unavailable('The storage of files does not answer', cause);
    });
    if (answer.statusCode < 300 || (answer.statusCode === 404 && call.method !== 'PUT')) return answer;
    const text = await answer.body.text().catch(() => '');
    const code = /<Code>([\w.]{1,100})<\/Code>/.exec(text)?.[1] ?? 'no code';
    throw unavailable(`The storage of files answered ${answer.statusCode} (${code}) within ${timeoutMs} ms`);
  }

  async #send({ method, key = '', query = {}, spooled }: S3Call): Promise<Dispatcher.ResponseData> {
    const { endpoint, bucket, timeoutMs, clock = systemClock } = this.#options;
    const url = new URL(`${endpoint.replace(/\/$/, '')}/${bucket}${key === '' ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = {
      host: url.host,
      'x-amz-date': new Date(clock.now()).toISOString().replaceAll(/[-:]|\.\d{3}/g, ''),
      // The connection's own checks protect the bytes; hashing them first would read each file twice.
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      ...(spooled === undefined ? {} : { 'content-length': String(spooled.bytes) }),
    };
    const authorization = signS3Request({ method, url, headers }, this.#options);
    return await request(url, {
      method,
      headers: { ...headers, authorization },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      ...(spooled === undefined ? {} : { body: createReadStream(spooled.path) }),
    });
  }
}

function unavailable(message: string, cause?: unknown): MusterError {
  return new MusterError('unavailable.files', message, { retryAfterMs: RETRY_MS, cause });
}
