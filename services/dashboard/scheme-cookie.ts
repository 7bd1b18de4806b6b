/** What somebody chose in the console, for the pages that have no script to read it: `light` or `dark`; none is as the system. */
export const SCHEME_COOKIE = 'muster-scheme';

const VALUE = new RegExp(`(?:^|;\\s*)${SCHEME_COOKIE}=(light|dark)(?:;|$)`);

/** The choice in a `Cookie` header; null when there is none. */
export function chosenScheme(cookies: string | undefined): string | null {
  return VALUE.exec(cookies ?? '')?.[1] ?? null;
}
