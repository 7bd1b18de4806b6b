import { z } from 'zod';
import { chatEnvironment } from './chat.ts';
import { capabilitySchema } from './fields.ts';
import { redisUrlSchema } from './redis-url.ts';
import { MAX_TIMER_MS } from './settings/durations.ts';
import { TASK_QUEUES } from './sources.ts';

const flag = z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1');
function int(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodCoercedNumber {
  const expected = `expected a whole number, ${min} ${max === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${max}`}`;
  return z.coerce.number(expected).int(expected).min(min, expected).max(max, expected);
}

/** Where `npm start` keeps its things, and the commands of this machine look for it. */
export const DEFAULT_DATA_DIRECTORY = '.muster';

const SERVED_QUEUES = [...TASK_QUEUES, 'deliveries', 'maintenance'];
const SLOT = `(?:${SERVED_QUEUES.join('|')})=\\d{1,4}`;
const SLOTS = new RegExp(`^${SLOT}(?:,${SLOT})*$`);

/**
 * Every environment variable that a fleet reads, in one schema. Names ending in `_MS` are milliseconds.
 * Values are validated together with `muster.config.ts`, before anything starts.
 */
export const environmentSchema = z.object({
  /** `redis[s]://user:password@host:port/db`, `redis[s]+sentinel://h1:p1,h2:p2/<master>`, `redis[s]+cluster://h1:p1,h2:p2`, `unix:///path/redis.sock`. */
  REDIS_URL: redisUrlSchema.default('redis://127.0.0.1:6379'),
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
  /** MiB of memory of an attempt of a `command` agent, or `none`: `commands.limits.memoryMb`, which it replaces. A container has less than a machine. */
  MUSTER_COMMAND_MEMORY_MB: z.union([z.literal('none'), int(16, 16_777_216)], 'expected 16 to 16777216 MiB, or none').optional(),
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
  /** What is deployed, such as a git tag: attempts record it, and failures are grouped by it. By default Muster's own version. */
  MUSTER_RELEASE: z
    .string()
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/, 'expected 1 to 64 visible ASCII characters')
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
  SHUTDOWN_GRACE_MS: int(0, MAX_TIMER_MS).default(25_000),
  /** Over how many hash tags tenants are spread; a Redis Cluster wants more than one. Never change it on a fleet with work in it. */
  SHARDS: int(1, 1024).default(1),
  OPENAI_BASE_URL: z.url().optional(),
  OPENAI_API_KEY: z.string().min(1).optional(),
  /** The model of the `assistant` agent that ships. */
  OPENAI_MODEL: z.string().min(1).default('gpt-5-mini'),
  ...chatEnvironment,
});

export type Environment = z.infer<typeof environmentSchema>;

/** The environment of this process with variables that it was given in another way. */
export function withVariables(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...given };
}
