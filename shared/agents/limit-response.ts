import { Response } from 'undici';
import { TaskFailure } from '../errors/task-failure.ts';

/** The same answer with a body that fails with OUTPUT_TOO_LARGE once more than `maxBytes` were read, which closes the connection. */
export function limitResponse(response: Response, maxBytes: number): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new TaskFailure('OUTPUT_TOO_LARGE', `The endpoint answered with more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
