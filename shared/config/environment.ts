import { z } from 'zod';
import { chatEnvironment } from './chat.ts';
import { capabilitySchema, nameSchema } from './fields.ts';
import { redisUrlSchema } from './redis-url.ts';
import { sealKeySchema } from './secrets/seal-key.ts';
import { fileVariableOf } from './secrets/secret-files.ts';
import { MAX_TIMER_MS } from './settings/durations.ts';
import { TASK_QUEUES } from './sources.ts';

const flag = z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1');
function int(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodCoercedNumber {
  const expected = `expected a whole number, ${min} ${max === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${max}`}`;
  return z.coerce.number(expected).int(expected).min(min, expected).max(max, expected);
}

/** Where `npm start` keeps its things, and the commands of this machine look for it. */
export const DEFAULT_DATA_DIRECTORY = '.muster';

const httpAddress = z.url({ protocol: /^https?$/ });

/** `key=value,key=value`, percent-encoded, as OpenTelemetry has it. */
const pairs = z.string().transform((text, context) => {
  const found = text.split(',').filter((pair) => pair.trim() !== '');
  try {
    return Object.fromEntries(found.map(readPair));
  } catch {
    context.addIssue({ code: 'custom', message: 'expected key=value, separated by commas and percent-encoded' });
    return z.NEVER;
  }
});

function readPair(pair: string): [key: string, value: string] {
  const [, key = '', value = ''] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
  if (key === '') throw new Error('no pair');
  return [decodeURIComponent(key), decodeURIComponent(value.trim())];
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const SERVED_QUEUES = [...TASK_QUEUES, 'deliveries', 'maintenance'];
const SLOT = `(?:${SERVED_QUEUES.join('|')})=\\d{1,4}`;
const SLOTS = new RegExp(`^${SLOT}(?:,${SLOT})*$`);

/**
 * Every environment variable that a fleet reads, in one schema. Names ending in `_MS` are milliseconds. Of each secret a file may say it, which
 * `<name>_FILE` names.
 * Values are validated together with `muster.config.ts`, before anything starts.
 */
export const environmentSchema = z.object({
  /**
   * `redis[s]://user:password@host:port/db`, `redis[s]+sentinel://h1:p1,h2:p2/<master>`, `redis[s]+cluster://h1:p1,h2:p2`, `unix:///path/redis.sock`.
   * `?cacert=`, `cert=`, `key=` name files for TLS, `sni=` the server; `sentinelUser=`, `sentinelPassword=` sign in at Sentinels.
   */
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
  /** Through which mail of alerts goes out: `smtp://user:password@host:587`. */
  MUSTER_SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Who it is from. */
  MUSTER_MAIL_FROM: z.string().min(3).max(320).default('Muster <muster@localhost>'),
  /** Which workers are scaled together, see `GET /v1/scaling/:group`. */
  MUSTER_WORKER_GROUP: nameSchema.default('default'),
  /** The pod that a worker runs in, and where Kubernetes is asked: it keeps its deletion cost there, so that a scale-in ends idle pods first. */
  POD_NAME: z.string().min(1).max(253).optional(),
  POD_NAMESPACE: z.string().min(1).max(253).optional(),
  KUBERNETES_SERVICE_HOST: z.string().min(1).optional(),
  KUBERNETES_SERVICE_PORT: int(1, 65_535).default(443),
  /** `terminationGracePeriodSeconds` of that pod, as its manifest says it, for the checks of `doctor`. */
  POD_TERMINATION_GRACE_SECONDS: int(0, 1_000_000).optional(),
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
  /** Seals what steps of runs gave, checkpoints, and the secrets of hooks, callbacks and agents in Redis: 32 bytes, as `openssl rand -base64 32` prints. */
  MUSTER_SEAL_KEY: sealKeySchema.optional(),
  /** The key before, which opens what is still sealed with it. */
  MUSTER_SEAL_KEY_PREVIOUS: sealKeySchema.optional(),
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
  /** Where spans go, by OTLP over HTTP; without one of these none are made. `/v1/traces` is added to the first. */
  OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpAddress.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs.optional(),
  /** By default `muster-<service>`, and `muster` where all services are in one process. */
  OTEL_SERVICE_NAME: z.string().min(1).max(255).optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),
  OTEL_SDK_DISABLED: z
    .string()
    .transform((text) => text.toLowerCase() === 'true')
    .default(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
  /** Whether a trace that begins here is recorded; what the caller's `traceparent` says counts for `parentbased_*`. */
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS).default('parentbased_always_on'),
  /** The share of `*traceidratio`. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number('expected a share, 0 to 1').min(0).max(1).default(1),
  /** Between two batches of spans, ms. */
  OTEL_BSP_SCHEDULE_DELAY: int(1, 600_000).default(5000),
  /** Spans that wait for the collector; more are dropped. */
  OTEL_BSP_MAX_QUEUE_SIZE: int(1, 1_000_000).default(2048),
  OPENAI_BASE_URL: z.url().optional(),
  OPENAI_API_KEY: z.string().min(1).optional(),
  /** The model of the `assistant` agent that ships. */
  OPENAI_MODEL: z.string().min(1).default('gpt-5-mini'),
  ...chatEnvironment,
});

export type Environment = z.infer<typeof environmentSchema>;

/** The environment of this process with variables that it was given in another way, also where files would say them. */
export function withVariables(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const files = Object.keys(given).map((name) => [fileVariableOf(name), '']);
  return { ...process.env, ...Object.fromEntries(files), ...given };
}
