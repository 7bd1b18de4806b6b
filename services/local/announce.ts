import { type Config, DEFAULT_DATA_DIRECTORY } from '#shared/config/index.ts';
import { readLocalRecord, writeLocalRecord, type LocalRecord } from './local-record.ts';
import { welcome, type WelcomeOptions } from './welcome.ts';

export interface AnnounceOptions {
  config: Pick<Config, 'env'>;
  /** The data directory, absolute. */
  directory: string;
  fleet: { port: number };
  out: { write(text: string): unknown };
  cwd: string;
}

/** Notes down for the commands of this machine where the fleet is, and tells the person in front of it. */
export function announce({ config, directory, fleet, out, cwd }: AnnounceOptions): void {
  const { HOST, MUSTER_ADMIN_KEY: chosenKey, MUSTER_DATA_DIR: chosen, MUSTER_PUBLIC_URL: publicUrl } = config.env;
  const before = readLocalRecord(directory);
  const url = `http://${reachable(HOST)}:${fleet.port}`;
  writeLocalRecord(directory, { url, key: chosenKey ?? before?.key ?? null });
  const about = chosenKey === undefined ? aboutKey(before) : ({ newKey: null, keyOrigin: 'environment' } as const);
  const chosenDirectory = chosen === DEFAULT_DATA_DIRECTORY ? null : chosen;
  out.write(welcome({ url: (publicUrl ?? url).replace(/\/$/, ''), directory, cwd, chosenDirectory, ...about }));
}

/** A key without an address was made by a start that had not come up: by this one, or by one that failed, as on a busy port. */
function aboutKey(before: LocalRecord | null): Pick<WelcomeOptions, 'newKey' | 'keyOrigin'> {
  return { newKey: before?.url === null ? before.key : null, keyOrigin: before?.key ? 'file' : 'unknown' };
}

/** An address that listens everywhere is none to go to. An IPv6 address stands in brackets in a URL. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
