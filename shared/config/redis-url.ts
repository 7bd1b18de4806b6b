import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { z } from 'zod';

const LOGIN = String.raw`(?:(?<login>(?:[^@/\s%]|%[0-9a-fA-F]{2})*)@)?`;
const NODE = String.raw`(?:\[[0-9a-fA-F:.]+\]|[^@/?#,:[\]\s]+)(?::\d{1,5})?`;
const QUERY = String.raw`(?:\?(?<query>\S*))?`;

/**
 * The forms of a complete `REDIS_URL`, so that a typing error is refused and never read as the address of another Redis. Special
 * characters of a name or password are percent-encoded.
 *
 * - `redis[s]://[user:password@]host[:port][/db]`
 * - `redis[s]+sentinel://[user:password@]h1:p1,h2:p2[/master[/db]]`
 * - `redis[s]+cluster://[user:password@]h1:p1,h2:p2`
 * - `unix:///path/redis.sock[?db=1]`
 *
 * The first three may have a query with the members of `RedisQuery`.
 */
export const REDIS_URL_FORM: Readonly<Record<'single' | 'sentinel' | 'cluster' | 'unix', RegExp>> = {
  single: new RegExp(String.raw`^redis(?<tls>s?)://${LOGIN}(?<nodes>${NODE})(?:/(?<db>\d*))?${QUERY}$`),
  sentinel: new RegExp(
    String.raw`^redis(?<tls>s?)\+sentinel://${LOGIN}(?<nodes>${NODE}(?:,${NODE})*)(?:/(?<master>[^/?\s]*)(?:/(?<db>\d*))?)?${QUERY}$`,
  ),
  cluster: new RegExp(String.raw`^redis(?<tls>s?)\+cluster://${LOGIN}(?<nodes>${NODE}(?:,${NODE})*)/?${QUERY}$`),
  unix: /^unix:\/\/(?<path>\/[^?\s]+)(?:\?db=(?<db>\d+))?$/,
};

const FORMS_TEXT =
  'redis[s]://[user:password@]host[:port][/db], redis[s]+sentinel://, redis[s]+cluster:// or unix:///path, with special characters as %XX';

/** What the query of a `REDIS_URL` says; the first four are those of `redis-cli`. */
export interface RedisQuery {
  /** A file with the authorities that may have signed the server's certificate, in PEM. Defaults to those of the system. */
  cacert?: string;
  /** A file with this client's certificate, in PEM; goes with `key`. */
  cert?: string;
  /** A file with the private key of `cert`, in PEM. */
  key?: string;
  /** The name that the server's certificate is for, where it is not the host's. */
  sni?: string;
  /** The user at Sentinels with an ACL. */
  sentinelUser?: string;
  /** Sentinels have a password of their own, which is not that of Redis. */
  sentinelPassword?: string;
}

const FILES = ['cacert', 'cert', 'key'] as const;
const NAMES = [...FILES, 'sni', 'sentinelUser', 'sentinelPassword'] as const;

/** Other names, which some providers write, mean nothing here. */
export function parseRedisQuery(query = ''): RedisQuery {
  const given = new URLSearchParams(query);
  return Object.fromEntries(NAMES.flatMap((name) => (given.get(name) ? [[name, given.get(name)]] : [])));
}

export const hasTlsFiles = (query: RedisQuery): boolean => FILES.some((name) => query[name] !== undefined);

/** What the files of a `REDIS_URL` say. Throws when one cannot be read, or they do not belong together. */
export function openTlsFiles({ cacert, cert, key }: RedisQuery): SecureContext {
  if ((cert === undefined) !== (key === undefined)) throw new Error('cert and key go together');
  return createSecureContext({ ca: readText(cacert), cert: readText(cert), key: readText(key) });
}

function readText(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

/** A line when the files of a `REDIS_URL` cannot be used. */
export function redisFileProblems(url: string): string[] {
  const query = parseRedisQuery(url.split('?')[1]);
  if (!hasTlsFiles(query)) return [];
  try {
    openTlsFiles(query);
    return [];
  } catch (error) {
    return [`environment: REDIS_URL: its cacert, cert and key cannot be used (${error instanceof Error ? error.message : String(error)})`];
  }
}

export const redisUrlSchema = z
  .string()
  .refine((url) => Object.values(REDIS_URL_FORM).some((form) => form.test(url)), `expected ${FORMS_TEXT}`);
