import type { RequestHandler } from 'express';
import { MusterError } from '#shared/errors/index.ts';
import { DEFAULT_TENANT, hasScope, publicTenantId, type TenantDirectory } from '#shared/tenants/index.ts';
import { personOf } from '../require-sign-in.ts';

/**
 * The queues carry the tickets of every tenant, so only an administrator of tenant `default`, who could make a key for any tenant, may
 * see them; while there is no other tenant, every key of `default`. Changing something takes the scope `operate`. Errors:
 * `auth.forbidden`.
 */
export function requireBoardAccess(tenants: Pick<TenantDirectory, 'hasOthers'>): RequestHandler {
  return async (request, _response, next) => {
    const { tenant, scopes } = personOf(request);
    if (tenant !== DEFAULT_TENANT) throw notYours(`yours is of "${publicTenantId(tenant)}"`);
    if (!hasScope(scopes, 'admin') && (await tenants.hasOthers())) throw notYours('yours has another scope');
    if (request.method !== 'GET' && request.method !== 'HEAD' && !hasScope(scopes, 'operate')) {
      throw new MusterError('auth.forbidden', 'Your key may look only. Changing something takes one with the scope "operate".');
    }
    next();
  };
}

function notYours(why: string): MusterError {
  return new MusterError(
    'auth.forbidden',
    `The board shows the tickets of all tenants. It takes a key of tenant "${DEFAULT_TENANT}" with the scope "admin"; ${why}.`,
  );
}
