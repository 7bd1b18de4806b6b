import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ConsolePage } from '../../console-pages.ts';
import type { PersonAnswer } from '../../sign-in/person-answer.ts';
import { callServer } from './api.ts';

/** The person who is signed in. Without a sign-in it leaves for the sign-in form. */
export async function readPerson(signal?: AbortSignal): Promise<PersonAnswer> {
  const path = '/console/person';
  const request = new Request(path, { headers: { Accept: 'application/json' }, ...(signal ? { signal } : {}) });
  return (await (await callServer(request)).json()) as PersonAnswer;
}

/** The same for a component. */
export function usePerson(): UseQueryResult<PersonAnswer> {
  return useQuery({ queryKey: ['person'], queryFn: ({ signal }) => readPerson(signal), staleTime: Infinity });
}
/** Each scope includes those after it, but for these. */
const SCOPES = ['admin', 'operate', 'journal', 'submit', 'answer', 'read', 'scaling', 'visit'] as const;
const LEFT_OUT: Partial<Record<Scope, readonly Scope[]>> = { journal: ['submit', 'answer'], submit: ['answer'] };
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
  const including = SCOPES.slice(0, SCOPES.indexOf(needed) + 1).filter((scope) => !LEFT_OUT[scope]?.includes(needed));
  return including.some((scope) => scopes.includes(scope));
}
