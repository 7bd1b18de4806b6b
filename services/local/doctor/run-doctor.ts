import { join, resolve } from 'node:path';
import { checkAgents, commandUserProblem, commandUsers, describeCgroups } from '#shared/agents/index.ts';
import { chatPlatforms, type Config, loadConfig, startCommand } from '#shared/config/index.ts';
import { checkInstallation, type CheckResult } from '#shared/findings/index.ts';
import { hasCode, MusterError } from '#shared/errors/index.ts';
import { createLog } from '#shared/log/index.ts';
import { openQueues } from '#shared/queue/index.ts';
import { connectRedis, createKeys } from '#shared/redis/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { readRedisRecord, redisUrl } from '../redis/redis-program.ts';
import { Seal } from '#shared/tenants/index.ts';
import { hookSchema } from '../../webhooks/hook.ts';
import { isStillRunning } from '../fleet/process-start.ts';
import { checkGrace } from './check-grace.ts';

/** With what of the configuration has another name now, or does nothing any more, and variables that nothing reads. */
type Load = () => Promise<Config & { readonly warnings?: readonly string[]; readonly mistyped?: readonly string[] }>;

export interface DoctorOptions {
  out: { write(text: string): unknown };
  /** Reads the configuration. Defaults to that of this process. */
  load?: Load;
  /** Prints JSON instead of a table. */
  json?: boolean;
  /** What a fleet on another machine finds by its own checks; null, or absent, when this machine's Redis is to be checked. */
  findChecks?: () => Promise<CheckResult[] | null>;
  /** What needs attention in the running fleet. */
  findAttention?: () => Promise<CheckResult[]>;
}

/**
 * Checks what the fleet needs and what needs attention, and prints a table. Returns the exit code: 1 when something of the installation
 * failed, else 0. What is a user's, as an agent that fails, is named with its owner and is no fault of the installation.
 */
export async function runDoctor({
  out,
  load = loadConfig,
  json = false,
  findChecks = () => Promise.resolve(null),
  findAttention = () => Promise.resolve([]),
}: DoctorOptions): Promise<0 | 1> {
  const elsewhere = await findChecks();
  const ofMachine = await inspectMachine(load, elsewhere === null);
  const ofInstallation = [...ofMachine, ...(elsewhere ?? [])];
  const known = new Set(ofInstallation.flatMap(({ id }) => id ?? []));
  // One list has both: what a check found is not said twice.
  const attention = (await findAttention()).filter(({ id }) => id === undefined || !known.has(id));
  const checks = [checkNode(process.versions.node), ...ofInstallation, ...attention];
  const failed = checks.filter(({ state, of }) => state === 'fail' && of === undefined).length;
  out.write(json ? `${JSON.stringify({ items: checks, failed }, null, 2)}\n` : renderChecks(checks, failed));
  return failed === 0 ? 0 : 1;
}

/** What this machine has for a fleet; `withRedis`: its Redis, too. */
async function inspectMachine(load: Load, withRedis: boolean): Promise<CheckResult[]> {
  const checks: CheckResult[] = [];
  const config = await loadConfiguration(load, checks);
  if (config === null) return checks;
  const ofRedis = withRedis ? await inspectRedis(config) : [];
  return [...checks, ...ofRedis, ...(await inspectAgents(config)), ...checkCommands(config), ...checkGrace(config), inspectChat(config)];
}

/** A table for a terminal, one check per line. */
function renderChecks(checks: readonly CheckResult[], failed: number): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const rows = checks.map(
    ({ name, state, detail, of }) => `  ${state.padEnd(4)}  ${name.padEnd(width)}  ${of === undefined ? '' : `${of}: `}${detail}\n`,
  );
  const owners = [...new Set(checks.flatMap(({ of }) => of ?? []))];
  const others = owners.length === 0 ? '' : ` Not by the installation: ${owners.join(', ')}.`;
  const warned = checks.filter(({ state, of }) => state === 'warn' && of === undefined).length;
  const looks = warned === 0 ? '' : warned === 1 ? ', and 1 needs a look' : `, and ${warned} need a look`;
  const end = failed === 0 ? `No check failed${looks}.` : `${failed} of ${checks.length} checks failed${looks}.`;
  return `${rows.join('')}\n${end}${others}\n`;
}

async function loadConfiguration(load: Load, checks: CheckResult[]): Promise<Config | null> {
  try {
    const config = await load();
    checks.push({ name: 'Configuration', state: 'ok', detail: `read from ${config.directory}` });
    const warnings = [...(config.warnings ?? []), ...(config.mistyped ?? [])];
    for (const warning of warnings) checks.push({ name: 'Configuration', state: 'warn', detail: warning });
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

/** Records that are read per tenant and kind, because a person waits for the answer. */
const MAX_READ = 50_000;

async function inspectRedis(config: Config): Promise<CheckResult[]> {
  const url = config.readVariable('REDIS_URL') === undefined ? localUrl(config) : config.env.REDIS_URL;
  if (url === null) {
    return [
      {
        name: 'Redis',
        state: 'skip',
        detail: `no fleet runs here, and \`${startCommand()}\` starts a Redis of its own; set REDIS_URL to check another`,
      },
    ];
  }
  const log = createLog({ level: 'silent', service: 'doctor' });
  const redis = connectRedis({ url, name: 'doctor', log });
  try {
    const keys = createKeys(config.env.SHARDS);
    const seal = new Seal({ key: config.env.MUSTER_SEAL_KEY, previous: config.env.MUSTER_SEAL_KEY_PREVIOUS });
    const hasMail = config.env.MUSTER_SMTP_URL !== undefined;
    const ports = { redis, keys, seal, settings: config.settings, queues: openQueues(redis, keys, log), hasMail };
    return await checkInstallation(ports, systemClock, { maxRead: MAX_READ, readHook: (text) => hookSchema.parse(JSON.parse(text)) });
  } finally {
    redis.disconnect();
  }
}

/** The address of the running Redis on this machine's data directory. A killed fleet may leave a record without a Redis. */
function localUrl(config: Config): string | null {
  const record = readRedisRecord(join(resolve(config.env.MUSTER_DATA_DIR), 'redis'));
  return record && isStillRunning(record) ? redisUrl(record.address) : null;
}

async function inspectAgents(config: Config): Promise<CheckResult[]> {
  const { agents } = config.settings;
  const problems = await checkAgents(agents, {
    directory: config.directory,
    openaiBaseUrl: config.env.OPENAI_BASE_URL,
    openaiApiKey: config.env.OPENAI_API_KEY,
    readSecret: config.readVariable,
    sandbox: config.settings.commands.sandbox,
  });
  if (problems.length > 0) return problems.map((problem) => ({ name: 'Agents', state: 'fail', detail: problem }));
  return [{ name: 'Agents', state: 'ok', detail: Object.keys(agents).join(', ') || 'none' }];
}

/** A half configured platform is already an error of the configuration. */
function inspectChat({ env }: Config): CheckResult {
  const platforms = chatPlatforms(env);
  return { name: 'Chat platforms', state: 'ok', detail: platforms.join(', ') || 'none: each is on when its secrets are set' };
}

/** The first Node with time zone data that holds today (2026c), in a line with long support. */
const NEEDED = { major: 24, minor: 20 };

export function checkNode(version: string): CheckResult {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor);
  const detail = isEnough ? version : `${version} is too old: run it by ${startCommand()}, or install Node ${NEEDED.major}.${NEEDED.minor}`;
  return { name: 'Node', state: isEnough ? 'ok' : 'fail', detail };
}

/** Checks what programs of `command` agents can read of the fleet. No check without such an agent. */
export function checkCommands(config: Config, ownUid = process.getuid?.(), platform: NodeJS.Platform = process.platform): CheckResult[] {
  const { agents } = config.settings;
  if (!Object.values(agents).some(({ kind }) => kind === 'command')) return [];
  return [checkUsers(config, ownUid, platform), ...checkRedisPassword(config), ...checkPlatform(config, platform)].map(
    ({ state, detail }) => ({
      name: 'Commands',
      state,
      detail,
    }),
  );
}

function checkUsers({ env, settings }: Config, ownUid: number | undefined, platform: NodeJS.Platform): Omit<CheckResult, 'name'> {
  const users = commandUsers(settings.commands, { ownUid, platform });
  const problem = commandUserProblem(users, { ownUid, platform });
  if (problem !== null) return { state: 'fail', detail: problem };
  if (users.kind === 'each') {
    const range = `${users.first} to ${users.first + users.count - 1}`;
    return {
      state: 'ok',
      detail: `each attempt runs as a user of its own (${range}), who may read nothing of the fleet's or of another attempt's`,
    };
  }
  const turns = settings.commands.sharedUser
    ? 'Tenants share that user (commands.sharedUser): the commands of one can read and change what those of another have'
    : 'Commands of one tenant at a time run on a worker, because those of one user can read and change what others of it have';
  if (users.kind === 'one') {
    const shared = `run as user ${users.user.uid}, which may not read what is the fleet's`;
    return { state: settings.commands.sharedUser ? 'warn' : 'ok', detail: `${shared}. ${turns}` };
  }
  const detail =
    `run as the fleet's own user (${ownUid ?? 'unknown'}): they can read ${resolve(env.MUSTER_DATA_DIR)} with its admin key and Redis, ` +
    `and the memory of its processes where the system allows it. ${turns}. A worker that runs as root on Linux gives each attempt its own user`;
  return { state: 'warn', detail };
}

function checkRedisPassword({ readVariable }: Config): Omit<CheckResult, 'name'>[] {
  const given = readVariable('REDIS_URL');
  if (given === undefined || given.startsWith('unix:') || /^[\w+]+:\/\/[^/@]*:[^/@]+@/.test(given)) return [];
  return [{ state: 'warn', detail: 'REDIS_URL has no password: programs that reach that Redis can read and write everything in it' }];
}

/** Where there are no cgroups at all, the rest of what bounds and ends programs is weaker too. */
function checkPlatform({ settings }: Config, platform: NodeJS.Platform): Omit<CheckResult, 'name'>[] {
  if (platform === 'linux') return [{ state: 'ok', detail: describeCgroups(settings.commands) }];
  const found =
    platform === 'darwin'
      ? 'programs that leave their process group are found by their environment, except programs of the system itself'
      : 'a program that leaves its process group is not ended with its attempt';
  return [{ state: 'warn', detail: `on ${platform} ${found}; memory is not counted` }];
}
