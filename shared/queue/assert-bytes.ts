import { MusterError } from '../errors/index.ts';

/** Throws `request.too-large` for a text of more than `mostBytes`; `what` is its name in the request. */
export function assertBytes(what: string, text: string, mostBytes: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostBytes) return;
  throw new MusterError('request.too-large', `${what}: expected at most ${mostBytes} bytes, got ${bytes}`, {
    details: { bytes, mostBytes },
  });
}
