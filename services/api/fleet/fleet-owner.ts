import { MusterError } from '#shared/errors/index.ts';
import { type Call, type RequestSchemas, route, type Route, type RouteOptions } from '#shared/http/index.ts';
import { DEFAULT_TENANT } from '#shared/tenants/index.ts';

const FLEET_OWNERS = 'For keys of the tenant `default`.';

/** Makes a route for keys of the installation's own tenant, and says so in its description. */
export function fleetRoute<const Request extends RequestSchemas>(options: RouteOptions<Request>): Route {
  const description = [FLEET_OWNERS, ...(options.description === undefined ? [] : [options.description])].join(' ');
  return route<Request>({
    ...options,
    description,
    handle: async (input, call) => {
      assertFleetOwner(call);
      return await options.handle(input, call);
    },
  });
}

/** Whether a call comes from the installation's own tenant. */
export function isFleetOwner({ tenant }: Call): boolean {
  return tenant === DEFAULT_TENANT;
}

/** Queues and tenants belong to the entire fleet, so only keys of the installation's own tenant reach them. Errors: `auth.forbidden`. */
export function assertFleetOwner(call: Call): void {
  if (isFleetOwner(call)) return;
  throw new MusterError('auth.forbidden', `This concerns the whole fleet and needs a key of the tenant "${DEFAULT_TENANT}"`);
}
