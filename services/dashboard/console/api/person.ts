import type { ConsolePage } from '../../console-pages.ts';
import { usePerson } from './call-api.ts';

/** Each scope includes those after it. */
const SCOPES = ['admin', 'operate', 'submit', 'read', 'visit'] as const;
export type Scope = (typeof SCOPES)[number];

const INSTALLATION = 'default';

/** Whether the key of the person who is signed in has a scope; false until that is known. */
export function useMay(needed: Scope): boolean {
  const { data } = usePerson();
  return includesScope(data?.scopes ?? [], needed);
}

/** Tells whether the person's key has a scope; none until that is known. */
export function useMayFor(): (needed: Scope) => boolean {
  const { data } = usePerson();
  return (needed) => includesScope(data?.scopes ?? [], needed);
}

/** Whether the person's key is of the tenant `default`, which also looks after the fleet. */
export function useIsInstallation(): boolean {
  return usePerson().data?.tenant === INSTALLATION;
}

/** Tells whether the person's key gets answers on a page; all do until the key is known, so that nothing moves. */
export function useMayRead(): (page: ConsolePage) => boolean {
  const { data } = usePerson();
  return ({ needs, ofInstallation = false }) =>
    data === undefined || (includesScope(data.scopes, needs) && (!ofInstallation || data.tenant === INSTALLATION));
}

function includesScope(scopes: readonly string[], needed: Scope): boolean {
  return SCOPES.slice(0, SCOPES.indexOf(needed) + 1).some((scope) => scopes.includes(scope));
}
