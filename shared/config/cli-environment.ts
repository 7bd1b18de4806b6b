import { z } from 'zod';
import { MusterError } from '../errors/index.ts';
import { readSecretFiles } from './secrets/secret-files.ts';

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
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const { given, problems: ofFiles } = readSecretFiles(set, ['MUSTER_API_KEY', 'MUSTER_DAEMON_TOKEN']);
  const read = cliEnvironmentSchema.safeParse(given);
  if (read.success && ofFiles.length === 0) return read.data;
  const problems = [...ofFiles, ...(read.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`)];
  throw new MusterError('config.invalid', problems.join('; '), { details: { problems } });
}

/** Reads a variable that a person named; an empty one counts as absent. */
export function readNamedVariable(name: string, variables: NodeJS.ProcessEnv = process.env): string | undefined {
  return variables[name] === '' ? undefined : variables[name];
}
