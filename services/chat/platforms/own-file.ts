import { readAll } from '#shared/files/index.ts';

/** Bytes and time of one download, as the adapters bound theirs. */
const MAX_BYTES = 25 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * Whether an address is at the origin that the operator set for a platform's API. The adapters download from public addresses by HTTPS only,
 * so that whoever writes to a bot reaches nothing else.
 */
export function isOwnAddress(url: string, apiUrl: string | undefined): boolean {
  return apiUrl !== undefined && URL.parse(url)?.origin === new URL(apiUrl).origin;
}

/** Downloads a file from that origin, and from nowhere else. */
export async function downloadOwn(url: string, token?: string): Promise<Buffer> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.ok && response.body !== null) return await readAll(response.body, MAX_BYTES);
  await response.body?.cancel();
  throw new Error(`The platform answered with ${response.status} instead of a file`);
}
