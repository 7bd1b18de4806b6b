import { MusterError } from '#shared/errors/index.ts';

/** The answer to whoever names a hook that the tenant does not have: `hook.not-found`, 404. */
export function hookNotFound(id: string): MusterError {
  return new MusterError('hook.not-found', 'There is no such hook', { details: { hook: id } });
}
