import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { createFleetClient, type FleetClient } from './fleet-client.ts';
import { packedFleet } from './packed-fleet.ts';
import { readJournal, type JournalEntry } from './journal.ts';
import { startServiceProcess, type ServiceProcess, type ServiceName } from './service-process.ts';
import { startRedis, type RedisServer } from '../redis/start-redis.ts';
import { waitFor } from '../wait-for.ts';

export interface FleetOptions {
  settings?: SettingsInput;
  /** A module whose `tools` are those of the configuration. */
  toolsFile?: string;
  /** For all its processes. */
  env?: Record<string, string>;
  /** Arguments of redis-server; by default an append-only file, as a fleet is to be run. */
  redisArgs?: string[];
  /** Whether its processes run the package, packed from the sources, instead of the sources. */
  isPacked?: boolean;
}

/** A Redis of its own and services that run as processes, in a folder that holds their configuration and the agents' journal. */
export interface Fleet {
  readonly redis: RedisServer;
  /** Its folder, in which the agents run. */
  readonly directory: string;
  /** A key of tenant `default` with every scope. */
  readonly adminKey: string;
  /**
   * Starts one more process. The first API registers the admin key, so it comes before other services with HTTP. `release`: the folder of a release,
   * to start a process of that.
   */
  start(service: ServiceName, env?: Record<string, string>, release?: string): Promise<ServiceProcess>;
  /** Talks to the last API started, with the admin key. */
  readonly client: FleetClient;
  journal(): JournalEntry[];
  /** Kills its workers and cancels what has not ended, for the next case. */
  clear(): Promise<void>;
  /** Kills what it started and removes what it made. */
  stop(): Promise<void>;
}

const ADMIN_KEY = 'the-admin-key-of-a-scenario';
const AGENT_FILE = fileURLToPath(import.meta.resolve('./fleet-agent.ts'));
/** The agent of the journal, by the time that it takes. */
const AGENTS = { echo: { kind: 'echo' }, work: worker(), 'work-150': worker() } as const satisfies SettingsInput['agents'];
const ANSWER_MS = 20_000;

function worker(): { kind: 'function'; file: string } {
  return { kind: 'function', file: AGENT_FILE };
}

/** Prepares a fleet of which only Redis runs. */
export async function openFleet({ settings = {}, toolsFile, env = {}, redisArgs, isPacked = false }: FleetOptions = {}): Promise<Fleet> {
  const packed = isPacked ? (await packedFleet()).package : undefined;
  const redis = await startRedis({ args: redisArgs ?? ['--appendonly', 'yes', '--appendfsync', 'everysec'] });
  const directory = await mkdtemp(join(tmpdir(), 'muster-fleet-'));
  const config = join(directory, 'muster.config.mjs');
  const tools = toolsFile === undefined ? ['', ''] : [`import { tools } from ${JSON.stringify(toolsFile)};\n`, ', tools'];
  await writeFile(config, `${tools[0]}export default { ...${JSON.stringify(withDefaults(settings))}${tools[1]} };\n`);
  const processes: ServiceProcess[] = [];
  const workers: ServiceProcess[] = [];
  let apiUrl = '';
  const client = createFleetClient({ url: () => apiUrl, key: ADMIN_KEY });

  const isOpen = async (): Promise<boolean> => (await client.call('GET', '/v1/tasks?limit=1')).status === 200;
  const start: Fleet['start'] = async (service, extra = {}, release) => {
    const base = { REDIS_URL: redis.url, PORT: '0', MUSTER_ADMIN_KEY: ADMIN_KEY, MUSTER_CONFIG: config, LOG_LEVEL: 'info' };
    const started = await startServiceProcess({ service, cwd: directory, env: { ...base, ...env, ...extra }, packed: release ?? packed });
    processes.push(started);
    if (service === 'worker') workers.push(started);
    if (service !== 'api') return started;
    apiUrl = started.url;
    await waitFor(isOpen, { deadlineMs: ANSWER_MS, what: 'the admin key to be known' });
    return started;
  };

  return {
    redis,
    directory,
    adminKey: ADMIN_KEY,
    start,
    client,
    journal: () => readJournal(directory),
    clear: async () => {
      await Promise.all(workers.splice(0).map((each) => each.kill()));
      const { body } = await client.call('GET', '/v1/tasks?limit=200');
      const open = (body['items'] as { id: string; status: TaskStatus }[]).filter(({ status }) => !isTerminal(status));
      await Promise.all(open.map(({ id }) => client.call('POST', `/v1/tasks/${id}/cancel`)));
    },
    stop: async () => {
      await Promise.all(processes.map((each) => each.kill()));
      await redis.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Short times, so that a scenario takes seconds; what one measures it sets itself. */
function withDefaults(settings: SettingsInput): SettingsInput {
  return {
    ...settings,
    agents: { ...AGENTS, ...settings.agents },
    limits: { httpPerMinute: 1_000_000, httpAnonymousPerMinute: 1_000_000, ...settings.limits },
    worker: {
      leaseMs: 1500,
      orphanCheckIntervalMs: 200,
      outboxSweepMs: 1000,
      ticketAuditMs: 1000,
      cancelGraceMs: 1000,
      ...settings.worker,
    },
  };
}
