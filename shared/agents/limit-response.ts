import { Response } from 'undici';
import { TaskFailure } from '../errors/index.ts';

export interface ResponseLimits {
  /** Bytes of a body. */
  readonly maxResponseBytes: number;
  /** Bytes between two blank lines, which readers of events keep until the second one comes. Defaults to no bound of its own. */
  readonly maxEventBytes?: number;
}

/** The same answer with a body that fails with OUTPUT_TOO_LARGE once more than that was read, which closes the connection. */
export function limitResponse(response: Response, { maxResponseBytes, maxEventBytes }: ResponseLimits): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const measure = maxEventBytes === undefined ? undefined : createEventMeasure();
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxResponseBytes) controller.error(tooLarge(`more than ${maxResponseBytes} bytes`));
      else if (measure !== undefined && measure(chunk) > Number(maxEventBytes))
        controller.error(tooLarge(`an event of more than ${maxEventBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

function tooLarge(what: string): TaskFailure {
  return new TaskFailure('OUTPUT_TOO_LARGE', `The endpoint answered with ${what}`);
}

const LF = 10;
const CR = 13;

/** Takes a body chunk by chunk and returns the bytes of its last event so far. Lines end with LF, CR or both. */
function createEventMeasure(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let breaks = 0;
  let previous = 0;
  return (chunk) => {
    for (const byte of chunk) {
      bytes += 1;
      if (byte !== LF && byte !== CR) breaks = 0;
      else if (byte === CR || previous !== CR) breaks += 1;
      if (breaks > 1) bytes = 0;
      previous = byte;
    }
    return bytes;
  };
}
