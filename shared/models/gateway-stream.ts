import type { UnderlyingSource } from 'node:stream/web';
import { brokenOff, streamError } from './call-failure.ts';
import type { StreamPart, StreamResult } from './language-model.ts';

/** What the gateway does while a stream passes through it. */
export interface StreamWatch {
  /** The answer begins, or the stream ends without one. */
  onBegin(): void;
  /** Reads a part before the caller gets it. */
  onPart(part: StreamPart): void;
  /** The stream has ended; the caller learns it next. */
  onEnd(): void;
  /** The stream broke or the caller left it. Returns the error that the caller gets. */
  onFailure(error: unknown): Promise<unknown>;
}

const PREAMBLE: ReadonlySet<StreamPart['type']> = new Set(['stream-start', 'response-metadata', 'raw', 'ping']);

/**
 * Passes a stream on, part by part, once its answer has begun. Rejects with an error that comes before any of the answer, so that
 * another model can be called instead.
 */
export async function passStream(result: StreamResult, watch: StreamWatch): Promise<StreamResult> {
  const reader = result.stream.getReader();
  const pending: StreamPart[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (value.type === 'error') {
      await reader.cancel(value.error).catch(() => undefined);
      throw streamError(value.error);
    }
    pending.push(value);
    if (!PREAMBLE.has(value.type)) break;
  }
  watch.onBegin();
  return { ...result, stream: new ReadableStream(new PassingSource(reader, pending, watch)) };
}

class PassingSource implements UnderlyingSource<StreamPart> {
  readonly #reader: ReadableStreamDefaultReader<StreamPart>;
  readonly #pending: StreamPart[];
  readonly #watch: StreamWatch;

  constructor(reader: ReadableStreamDefaultReader<StreamPart>, pending: StreamPart[], watch: StreamWatch) {
    this.#reader = reader;
    this.#pending = pending;
    this.#watch = watch;
  }

  async pull(controller: ReadableStreamDefaultController<StreamPart>): Promise<void> {
    try {
      const part = this.#pending.shift() ?? (await this.#reader.read()).value;
      if (part !== undefined) controller.enqueue(await this.#pass(part));
      else {
        this.#watch.onEnd();
        controller.close();
      }
    } catch (error) {
      throw await this.#watch.onFailure(error);
    }
  }

  /** What a call used counts before its caller sees the end. */
  async #pass(part: StreamPart): Promise<StreamPart> {
    if (part.type === 'error') return { type: 'error', error: await this.#watch.onFailure(streamError(part.error)) };
    this.#watch.onPart(part);
    if (part.type !== 'finish') return part;
    const broken = brokenOff(part.finishReason.raw);
    if (broken !== null) return { type: 'error', error: await this.#watch.onFailure(broken) };
    this.#watch.onEnd();
    return part;
  }

  async cancel(reason: unknown): Promise<void> {
    await this.#watch.onFailure(reason);
    await this.#reader.cancel(reason);
  }
}
