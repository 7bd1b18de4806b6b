import { MusterError } from '#shared/errors/index.ts';

/** The refusal of a webhook that does not prove who sent it: `auth.bad-signature`, 401. */
export function badSignature(reason: string): MusterError {
  return new MusterError('auth.bad-signature', reason);
}
