import type { SecureContext } from 'node:tls';
import { hasTlsFiles, openTlsFiles, parseRedisQuery, REDIS_URL_FORM } from '../config/index.ts';

/** Where Redis is, in the form that the client wants it. */
export type RedisAddress =
  | { kind: 'single'; options: NodeOptions }
  | { kind: 'sentinel'; options: NodeOptions & SentinelOptions }
  | { kind: 'cluster'; nodes: HostPort[]; options: NodeOptions };

export interface HostPort {
  host: string;
  port: number;
}

export interface NodeOptions {
  host?: string;
  port?: number;
  path?: string;
  db?: number;
  username?: string;
  password?: string;
  tls?: TlsOptions;
}

interface TlsOptions {
  servername?: string;
  readonly secureContext?: SecureContext;
}

export interface SentinelOptions {
  sentinels: HostPort[];
  name: string;
  sentinelUsername?: string;
  sentinelPassword?: string;
  /** For the Sentinels themselves. */
  sentinelTLS?: TlsOptions;
  /** Without it the client would speak to the primary in clear, whatever `tls` says. */
  enableTLSForSentinelMode?: true;
}

const ADDRESS: Readonly<Record<keyof typeof REDIS_URL_FORM, (groups: Groups) => RedisAddress>> = {
  unix: ({ path = '', db }) => ({ kind: 'single', options: { path: decodeURIComponent(path), ...database(db) } }),
  single: (groups) => ({ kind: 'single', options: { ...nodeOptions(groups), ...nodesOf(groups, 6379)[0] } }),
  cluster: (groups) => ({ kind: 'cluster', nodes: nodesOf(groups, 6379), options: nodeOptions(groups) }),
  sentinel: (groups) => ({
    kind: 'sentinel',
    options: {
      ...nodeOptions(groups),
      ...sentinelOptions(groups),
      sentinels: nodesOf(groups, 26_379),
      name: groups['master'] || 'mymaster',
    },
  }),
};

/** Reads `REDIS_URL`, in a form that the environment's schema accepts. Throws on any other. */
export function parseRedisAddress(url: string): RedisAddress {
  for (const kind of ['unix', 'single', 'cluster', 'sentinel'] as const) {
    const groups = REDIS_URL_FORM[kind].exec(url)?.groups;
    if (groups) return ADDRESS[kind](groups);
  }
  throw new Error('expected redis://, rediss://, redis+sentinel://, redis+cluster:// or unix://');
}

type Groups = Record<string, string | undefined>;

function nodesOf({ nodes = '' }: Groups, fallbackPort: number): HostPort[] {
  return nodes.split(',').map((node) => {
    const [, ipv6, name, port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(node) ?? [];
    return { host: ipv6 ?? name ?? '', port: port === undefined ? fallbackPort : Number(port) };
  });
}

function sentinelOptions({ tls, query }: Groups): Partial<SentinelOptions> {
  const { sentinelUser, sentinelPassword } = parseRedisQuery(query);
  return {
    ...(sentinelUser === undefined ? {} : { sentinelUsername: sentinelUser }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls ? { sentinelTLS: tlsOptions(query), enableTLSForSentinelMode: true } : {}),
  };
}

/**
 * Files are read at each connection: a certificate that was renewed holds from the next one on. While a new one is written, the one before holds,
 * because the client would not connect again after a failure here.
 */
function tlsOptions(query: string | undefined): TlsOptions {
  const parsed = parseRedisQuery(query);
  const options: TlsOptions = parsed.sni === undefined ? {} : { servername: parsed.sni };
  if (!hasTlsFiles(parsed)) return options;
  let last = openTlsFiles(parsed);
  const read = (): SecureContext => {
    try {
      last = openTlsFiles(parsed);
    } catch {
      return last;
    }
    return last;
  };
  return Object.defineProperty(options, 'secureContext', { enumerable: true, get: read });
}

function nodeOptions({ tls, login = '', db, query }: Groups): NodeOptions {
  const [, username = '', password] = /^([^:]*)(?::(.*))?$/s.exec(login) ?? [];
  return {
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password === undefined ? {} : { password: decodeURIComponent(password) }),
    ...(tls ? { tls: tlsOptions(query) } : {}),
    ...database(db),
  };
}

function database(text: string | undefined): Pick<NodeOptions, 'db'> {
  return text ? { db: Number(text) } : {};
}
