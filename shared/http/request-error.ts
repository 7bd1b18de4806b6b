import { MusterError } from '../errors/index.ts';

/** An error of Express, whose readers and router name an HTTP status, as ours. */
export function requestError(error: unknown): unknown {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 413) return bodyTooLarge(undefined, error);
  if (status === 415)
    return new MusterError('request.unsupported-media-type', 'The charset or encoding of the body is not supported', { cause: error });
  if (typeof status !== 'number' || status < 400 || status > 499) return error;
  return new MusterError('request.malformed', 'The request cannot be read: expected valid JSON and a valid address', { cause: error });
}

/** `request.too-large`, with the bound where it is known. */
export function bodyTooLarge(maxBytes: number | undefined, cause?: unknown): MusterError {
  return new MusterError('request.too-large', `The body has more than ${maxBytes ?? 'the allowed'} bytes`, {
    details: { maxBytes },
    cause,
  });
}
