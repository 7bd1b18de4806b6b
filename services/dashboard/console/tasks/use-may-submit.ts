import { usePerson } from '../api/use-person.ts';

/** Scopes that include `submit`. */
const SUBMITTING = new Set(['admin', 'operate', 'submit']);

/** Whether who is signed in may make and stop tasks. */
export function useMaySubmit(): boolean {
  const { data } = usePerson();
  return data?.scopes.some((scope) => SUBMITTING.has(scope)) ?? false;
}
