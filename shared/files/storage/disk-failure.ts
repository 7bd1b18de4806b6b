import { MusterError } from '../../errors/index.ts';

const RETRY_MS = 5000;

/** A full or broken disk is the storage's fault, and may be repaired. Errors: `unavailable.files`. */
export async function orUnavailable<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new MusterError('unavailable.files', 'The folder of files cannot be used; the log says more', { retryAfterMs: RETRY_MS, cause });
  }
}
