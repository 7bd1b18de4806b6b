import { type GuardedFetch, failureFromNetwork } from '../../agents/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { FileSource } from '../../files/index.ts';
import { cleanMediaType } from '../../files/index.ts';

const MAX_REDIRECTS = 3;
/** Statuses by which a server says that an address will not work another time either. */
const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_NOT_FOUND',
  410: 'RESOURCE_NOT_FOUND',
};

/**
 * Opens what an address leads to, over a few redirects, each of which passes the guard of addresses. `type`: its media type as its server
 * says; null when it says none. Errors: PERMISSION_DENIED, RESOURCE_NOT_FOUND, FILES_UNAVAILABLE.
 */
export async function fetchAttachment(
  fetch: GuardedFetch,
  url: string,
  signal: AbortSignal,
): Promise<{ source: FileSource; type: string | null }> {
  let address = new URL(url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetch(address, { method: 'GET', signal }).catch((error: unknown) => {
      throw failureOfFetch(error);
    });
    if (response.ok && response.body !== null) {
      const type = response.headers.get('content-type');
      return { source: response.body, type: type === null ? null : cleanMediaType(type) };
    }
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) throw failureOfStatus(address, response.status);
    address = readLocation(location, address);
  }
  throw new TaskFailure('RESOURCE_NOT_FOUND', `${address.host} redirects more than ${MAX_REDIRECTS} times`);
}

function failureOfFetch(error: unknown): TaskFailure {
  const failure = failureFromNetwork(error);
  return failure.code === 'NETWORK_ERROR' ? new TaskFailure('FILES_UNAVAILABLE', failure.message, { cause: error }) : failure;
}

/** Names the host only: addresses of files often hold secrets. */
function failureOfStatus({ host }: URL, status: number): TaskFailure {
  return new TaskFailure(CODE_BY_STATUS[status] ?? 'FILES_UNAVAILABLE', `${host} answered with ${status} instead of a file`);
}

function readLocation(location: string, from: URL): URL {
  const next = URL.parse(location, from.href);
  if (next !== null && /^https?:$/.test(next.protocol)) return next;
  throw new TaskFailure('RESOURCE_NOT_FOUND', `${from.host} redirects to an address that is none`);
}
