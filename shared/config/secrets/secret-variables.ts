import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import type { AgentDefinition } from '../agent-definitions.ts';
import { CHAT_SECRETS } from '../chat.ts';

/** The variables of Muster's own that give access to something. */
const SECRET_VARIABLES = [
  'REDIS_URL',
  'MUSTER_ADMIN_KEY',
  'MUSTER_API_KEY',
  'MUSTER_DAEMON_TOKEN',
  'MUSTER_S3_ACCESS_KEY',
  'MUSTER_S3_SECRET_KEY',
  'MUSTER_SEAL_KEY',
  'MUSTER_SEAL_KEY_PREVIOUS',
  'MUSTER_OIDC_CLIENT_SECRET',
  'OPENAI_API_KEY',
  'MUSTER_SMTP_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  ...CHAT_SECRETS,
];

/** Names of the variables that hold secrets: Muster's own, and the variables that configured agents name. */
export function secretVariables(agents: Readonly<Record<string, AgentDefinition>>): string[] {
  const named = Object.values(agents).flatMap((agent) => (agent.kind === 'openai' && agent.apiKeyEnv ? [agent.apiKeyEnv] : []));
  return [...new Set([...SECRET_VARIABLES, ...named])];
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
