/** Only to resolve against; nothing is ever sent there. */
const NOWHERE = 'http://nowhere.invalid';

/** The path to go on to after signing in, when it is one of this site; `/` for everything else, so that no link leads elsewhere. */
export function nextPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !wanted.startsWith('/')) return '/';
  const url = URL.parse(wanted, NOWHERE);
  if (url?.origin !== NOWHERE) return '/';
  // `/.//elsewhere` resolves to `//elsewhere`, which a browser takes for a host.
  return url.pathname.startsWith('//') ? '/' : `${url.pathname}${url.search}`;
}
