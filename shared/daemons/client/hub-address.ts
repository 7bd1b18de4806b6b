const PROTOCOLS: Readonly<Record<string, string>> = { 'http:': 'ws:', 'https:': 'wss:', 'ws:': 'ws:', 'wss:': 'wss:' };

/** The WebSocket address of a hub, from its own address or from its installation's, where it is at `/hub`. Throws a TypeError for anything else. */
export function hubAddress(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const protocol = url === null ? undefined : PROTOCOLS[url.protocol];
  if (url === null || protocol === undefined) {
    throw new TypeError(`"${given}" is not the address of a hub, such as https://muster.example.com`);
  }
  const path = url.pathname === '/' ? '/hub' : url.pathname;
  return `${protocol}//${url.host}${path}${url.search}`;
}
