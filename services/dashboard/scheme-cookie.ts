/** Holds the colour scheme chosen in the console, `light` or `dark`, for pages without a script. Without it they follow the system. */
export const SCHEME_COOKIE = 'muster-scheme';

const VALUE = new RegExp(`(?:^|;\\s*)${SCHEME_COOKIE}=(light|dark)(?:;|$)`);

/** The scheme in a `Cookie` header; null when there is none. */
export function chosenScheme(cookies: string | undefined): string | null {
  return VALUE.exec(cookies ?? '')?.[1] ?? null;
}
