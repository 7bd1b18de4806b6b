/**
 * What a key may do. Each scope includes those after it.
 *
 * - `admin`: tenants and keys
 * - `operate`: steer: queues, agents, hooks, retry and remove on the board
 * - `submit`: make and stop tasks
 * - `read`: look
 * - `visit`: talk in the one session that the key is for; no other scope's routes
 */
export const SCOPES = ['admin', 'operate', 'submit', 'read', 'visit'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a key with these scopes may do what asks for `wanted`. */
export function hasScope(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.some((scope) => SCOPES.indexOf(scope) <= SCOPES.indexOf(wanted));
}
