import { z } from 'zod';
import { chatEnvironment, CHAT_SECRETS } from './chat.ts';
import { capabilitySchema } from './fields.ts';
import { TASK_QUEUES } from './sources.ts';
import { MusterError } from '../errors/index.ts';
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import type { AgentDefinition } from './agent-definitions.ts';

const flag = z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1');
function int(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodCoercedNumber {
  const expected = `expected a whole number, ${min} ${max === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${max}`}`;
  return z.coerce.number(expected).int(expected).min(min, expected).max(max, expected);
}

/** Where `npm start` keeps its things, and the commands of this machine look for it. */
export const DEFAULT_DATA_DIRECTORY = '.muster';

const REDIS_FORMS =
  'redis[s]://[user:password@]host[:port][/db], redis[s]+sentinel://, redis[s]+cluster:// or unix:///path, with special characters as %XX';

const SERVED_QUEUES = [...TASK_QUEUES, 'deliveries', 'maintenance'];
const SLOT = `(?:${SERVED_QUEUES.join('|')})=\\d{1,4}`;
const SLOTS = new RegExp(`^${SLOT}(?:,${SLOT})*$`);

/**
 * Every environment variable that Muster reads, in one schema. Names ending in `_MS` are milliseconds.
 * Values are validated together with `muster.config.ts`, before anything starts.
 */
export const environmentSchema = z.object({
  /** `redis[s]://user:password@host:port/db`, `redis[s]+sentinel://h1:p1,h2:p2/<master>`, `redis[s]+cluster://h1:p1,h2:p2`, `unix:///path/redis.sock`. */
  REDIS_URL: z
    .string()
    .refine((url) => Object.values(REDIS_URL_FORM).some((form) => form.test(url)), `expected ${REDIS_FORMS}`)
    .default('redis://127.0.0.1:6379'),
  /** The port of this process's HTTP server; 0 takes any free one. */
  PORT: z.coerce.number('expected a port, 0 to 65535').int().min(0).max(65_535).default(3000),
  /** The address it listens on. Containers set `0.0.0.0`. */
  HOST: z.string().min(1).default('127.0.0.1'),
  /** Where `npm start` keeps its Redis data, logs and state. */
  MUSTER_DATA_DIR: z.string().min(1).default(DEFAULT_DATA_DIRECTORY),
  /** The first admin key. Without it one is generated and printed once. */
  MUSTER_ADMIN_KEY: z
    .string()
    .min(8, 'expected at least 8 characters')
    .max(256)
    .regex(/^[\x21-\x7e]*$/, 'expected visible ASCII characters without spaces, because it is sent in a header')
    .optional(),
  /** Attempts running at once in the fleet. */
  MUSTER_MAX_CONCURRENT: int(1).optional(),
  /** The configuration file; by default `muster.config.ts` in the working directory. */
  MUSTER_CONFIG: z.string().min(1).optional(),
  /** The user by number that programs of `command` agents run as, or `own`: see `commands.uid`, which it replaces. */
  MUSTER_COMMAND_UID: z
    .string()
    .regex(/^(own|\d{1,10})$/, 'expected the number of a user, or own')
    .transform((value) => (value === 'own' ? value : Number(value)))
    .optional(),
  /** Which queues a worker serves, and the slots that each is sure of: `critical=2,chat=4,tasks=4`. By default all, by config. Only `deliveries=0` leaves out deliveries. */
  MUSTER_QUEUES: z
    .string()
    .regex(SLOTS, `expected name=slots, separated by commas, of ${SERVED_QUEUES.join(', ')}`)
    .optional(),
  /** What this worker has that tasks may need, separated by commas: `gpu,browser`. It then serves the queue `remote` too, with 4 slots unless configured. */
  MUSTER_CAPABILITIES: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(capabilitySchema).max(50))
    .optional(),
  /** The keys of the bucket in `files.s3`. */
  MUSTER_S3_ACCESS_KEY: z.string().min(1).optional(),
  MUSTER_S3_SECRET_KEY: z.string().min(1).optional(),
  /** The secret of the client in `signIn.oidc`, which it replaces. */
  MUSTER_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  /** The public address of this installation, for links; by default the address it listens on. */
  MUSTER_PUBLIC_URL: z.url().optional(),
  /** Whether to believe `X-Forwarded-*` headers: true behind the ingress or another proxy of yours. */
  MUSTER_TRUST_PROXY: flag.default(false),
  /** Set by `npm run dev`: a failed attempt of a function agent has the code around the line that threw in `error.details.sourceCode`. */
  MUSTER_DEV: flag.default(false),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** How long a stopping process waits for running work before it hands it back. */
  SHUTDOWN_GRACE_MS: int(0).default(25_000),
  /** Over how many hash tags tenants are spread; a Redis Cluster wants more than one. Never change it on a fleet with work in it. */
  SHARDS: int(1, 1024).default(1),
  OPENAI_BASE_URL: z.url().optional(),
  OPENAI_API_KEY: z.string().min(1).optional(),
  /** The model of the `assistant` agent that ships. */
  OPENAI_MODEL: z.string().min(1).default('gpt-5-mini'),
  ...chatEnvironment,
});

export type Environment = z.infer<typeof environmentSchema>;

const LOGIN = String.raw`(?:(?<login>(?:[^@/\s%]|%[0-9a-fA-F]{2})*)@)?`;
const NODE = String.raw`(?:\[[0-9a-fA-F:.]+\]|[^@/?#,:[\]\s]+)(?::\d{1,5})?`;

/**
 * The forms of `REDIS_URL`, whole, so that a slip of the pen is refused and never read as the address of another Redis. Special
 * characters of a name or password are percent-encoded.
 *
 * - `redis[s]://[user:password@]host[:port][/db]`
 * - `redis[s]+sentinel://[user:password@]h1:p1,h2:p2[/master[/db]]`
 * - `redis[s]+cluster://[user:password@]h1:p1,h2:p2`
 * - `unix:///path/redis.sock[?db=1]`
 */
export const REDIS_URL_FORM: Readonly<Record<'single' | 'sentinel' | 'cluster' | 'unix', RegExp>> = {
  single: new RegExp(String.raw`^redis(?<tls>s?)://${LOGIN}(?<nodes>${NODE})(?:/(?<db>\d*))?(?:\?\S*)?$`),
  sentinel: new RegExp(
    String.raw`^redis(?<tls>s?)\+sentinel://${LOGIN}(?<nodes>${NODE}(?:,${NODE})*)(?:/(?<master>[^/?\s]*)(?:/(?<db>\d*))?)?$`,
  ),
  cluster: new RegExp(String.raw`^redis(?<tls>s?)\+cluster://${LOGIN}(?<nodes>${NODE}(?:,${NODE})*)/?$`),
  unix: /^unix:\/\/(?<path>\/[^?\s]+)(?:\?db=(?<db>\d+))?$/,
};

/** What the commands read from the environment. They are clients: nothing of a fleet's own configuration is needed. */
const cliEnvironmentSchema = z.object({
  /** Address of the API, without a path. */
  MUSTER_URL: z.url({ protocol: /^https?$/, error: 'expected an address like http://localhost:3000' }).optional(),
  MUSTER_API_KEY: z.string().min(1).optional(),
  /** The token of `muster daemon`, which is not visible in the list of processes then. */
  MUSTER_DAEMON_TOKEN: z.string().min(1).optional(),
  /** Where a fleet of this machine leaves its address and key, and a daemon its results. */
  MUSTER_DATA_DIR: z.string().min(1).optional(),
  /** Set to anything: no colours (https://no-color.org). */
  NO_COLOR: z.string().optional(),
});

export type CliEnvironment = z.infer<typeof cliEnvironmentSchema>;

/** Reads the environment of a command; an empty variable counts as absent. Throws `config.invalid`, naming each wrong one. */
export function readCliEnvironment(variables: NodeJS.ProcessEnv = process.env): CliEnvironment {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const read = cliEnvironmentSchema.safeParse(given);
  if (read.success) return read.data;
  const problems = read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new MusterError('config.invalid', problems.join('; '), { details: { problems } });
}

/** Reads a variable that a person named; an empty one counts as absent. */
export function readNamedVariable(name: string, variables: NodeJS.ProcessEnv = process.env): string | undefined {
  return variables[name] === '' ? undefined : variables[name];
}

/** The variables of Muster's own that give access to something. */
const SECRET_VARIABLES = [
  'REDIS_URL',
  'MUSTER_ADMIN_KEY',
  'MUSTER_API_KEY',
  'MUSTER_DAEMON_TOKEN',
  'MUSTER_S3_ACCESS_KEY',
  'MUSTER_S3_SECRET_KEY',
  'MUSTER_OIDC_CLIENT_SECRET',
  'OPENAI_API_KEY',
  ...CHAT_SECRETS,
];

/** Names of the variables that hold secrets: Muster's own, and the variables that configured agents name. */
export function secretVariables(agents: Readonly<Record<string, AgentDefinition>>): string[] {
  const named = Object.values(agents).flatMap((agent) => (agent.kind === 'openai' && agent.apiKeyEnv ? [agent.apiKeyEnv] : []));
  return [...new Set([...SECRET_VARIABLES, ...named])];
}

/** The environment of this process with variables that it was given in another way. */
export function withVariables(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...given };
}

/**
 * Takes variables out of this process's environment after they were read, so that neither child processes nor `/proc/<pid>/environ` show
 * them. Returns whether the second part succeeded, which needs Linux.
 */
export function withdrawVariables(names: readonly string[], environment: NodeJS.ProcessEnv = process.env): boolean {
  for (const name of names) delete environment[name];
  if (process.platform !== 'linux') return false;
  try {
    eraseInitialEnvironment(new Set(names));
    return true;
  } catch {
    return false;
  }
}

/** Positions in /proc/self/stat, counted after the program's name: where the initial environment begins and ends in memory. */
const ENV_START = 47;
const ENV_END = 48;

/** The kernel reads `environ` from the process's own memory, so zeros there are all that anybody reads from then on. */
function eraseInitialEnvironment(names: ReadonlySet<string>): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // The program's name may hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const start = Number(fields[ENV_START]);
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    const block = Buffer.alloc(Number(fields[ENV_END]) - start);
    readSync(memory, block, 0, block.length, start);
    let at = 0;
    for (const entry of block.toString('latin1').split('\0')) {
      const name = entry.slice(0, Math.max(0, entry.indexOf('=')));
      if (names.has(name)) writeSync(memory, Buffer.alloc(entry.length), 0, entry.length, start + at);
      at += entry.length + 1;
    }
  } finally {
    closeSync(memory);
  }
}
