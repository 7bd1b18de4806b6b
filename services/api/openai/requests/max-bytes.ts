import type { Settings } from '#shared/config/index.ts';

/** Base64 has four characters for three bytes. */
const BASE64_FACTOR = 4 / 3;

/** Bytes of a request that may bring the pictures of its messages. */
export function maxRequestBytes({ http, files }: Settings): number {
  return http.maxBodyBytes + Math.ceil(files.maxModelBytes * BASE64_FACTOR);
}
