import { MusterError } from '#shared/errors/index.ts';

/** A hook without its secret must never verify anything; its schema does not let one through. */
export function requireSecret(secret: string | null): string {
  if (secret === null || secret === '') throw new MusterError('internal.error', 'The hook has no secret');
  return secret;
}
