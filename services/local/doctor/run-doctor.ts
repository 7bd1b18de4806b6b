import { join, resolve } from 'node:path';
import { checkAgents } from '#shared/agents/index.ts';
import { chatPlatforms, type Config, loadConfig } from '#shared/config/index.ts';
import { hasCode, MusterError } from '#shared/errors/index.ts';
import { createLog } from '#shared/log/index.ts';
import { connectRedis, createKeys } from '#shared/redis/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { redisUrl } from '../local-redis-address.ts';
import { isStillRunning } from '../process-start.ts';
import { readRedisRecord } from '../redis-record.ts';
import type { Check } from './check.ts';
import { checkCommands } from './check-commands.ts';
import { checkNode } from './check-node.ts';
import { checkOutbound } from './check-outbound.ts';
import { checkRedis } from './check-redis.ts';
import { renderChecks } from './render-checks.ts';

export interface DoctorOptions {
  out: { write(text: string): unknown };
  /** Reads the configuration. Defaults to that of this process. */
  load?: () => Promise<Config>;
}

/**
 * Looks at all that the fleet rests on and prints a table.
 * Returns the exit code: 0 when nothing failed, else 1.
 */
export async function runDoctor({ out, load = loadConfig }: DoctorOptions): Promise<0 | 1> {
  const checks: Check[] = [checkNode(process.versions.node)];
  const config = await loadChecked(load, checks);
  if (config) checks.push(...(await lookAtRedis(config)), ...(await lookAtAgents(config)), ...checkCommands(config), lookAtChat(config));
  out.write(renderChecks(checks));
  const failed = checks.filter(({ state }) => state === 'fail').length;
  out.write(failed === 0 ? '\nNothing stands in the way.\n' : `\n${failed} of ${checks.length} checks failed.\n`);
  return failed === 0 ? 0 : 1;
}

async function loadChecked(load: () => Promise<Config>, checks: Check[]): Promise<Config | null> {
  try {
    const config = await load();
    checks.push({ name: 'Configuration', state: 'ok', detail: `read from ${config.directory}` });
    return config;
  } catch (error) {
    if (!(error instanceof MusterError) || !hasCode(error, 'config.invalid')) throw error;
    const problems = error.details?.['problems'];
    for (const problem of Array.isArray(problems) ? problems : [error.message]) {
      checks.push({ name: 'Configuration', state: 'fail', detail: String(problem) });
    }
    return null;
  }
}

async function lookAtRedis(config: Config): Promise<Check[]> {
  const url = config.readVariable('REDIS_URL') === undefined ? localUrl(config) : config.env.REDIS_URL;
  if (url === null) {
    return [
      {
        name: 'Redis',
        state: 'skip',
        detail: 'no fleet runs here, and `npm start` brings a Redis of its own; set REDIS_URL to look at another',
      },
    ];
  }
  const redis = connectRedis({ url, name: 'doctor', log: createLog({ level: 'silent', service: 'doctor' }) });
  try {
    const keys = createKeys(config.env.SHARDS);
    const checks = await checkRedis(redis, keys, systemClock);
    // Where Redis does not answer there is nothing else to see.
    return checks.length === 1 ? checks : [...checks, ...(await checkOutbound(redis, keys))];
  } finally {
    redis.disconnect();
  }
}

/** Where the Redis of the fleet on this machine's data directory is, if one runs. A fleet that ended at once leaves a record without one. */
function localUrl(config: Config): string | null {
  const record = readRedisRecord(join(resolve(config.env.MUSTER_DATA_DIR), 'redis'));
  return record && isStillRunning(record) ? redisUrl(record.address) : null;
}

async function lookAtAgents(config: Config): Promise<Check[]> {
  const { agents } = config.settings;
  const problems = await checkAgents(agents, {
    directory: config.directory,
    openaiBaseUrl: config.env.OPENAI_BASE_URL,
    openaiApiKey: config.env.OPENAI_API_KEY,
    readSecret: config.readVariable,
  });
  if (problems.length > 0) return problems.map((problem) => ({ name: 'Agents', state: 'fail', detail: problem }));
  return [{ name: 'Agents', state: 'ok', detail: Object.keys(agents).join(', ') || 'none' }];
}

/** One that is half configured keeps the configuration from being read. */
function lookAtChat({ env }: Config): Check {
  const platforms = chatPlatforms(env);
  return { name: 'Chat platforms', state: 'ok', detail: platforms.join(', ') || 'none: each is on when its secrets are set' };
}
