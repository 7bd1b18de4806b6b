import { readFileSync, statSync } from 'node:fs';

/** What follows the name of a secret in the name of a variable that says which file has it, as Docker and Kubernetes mount secrets. */
const SUFFIX = '_FILE';
/** A path to something else, such as a disk, is a mistake. */
const MAX_BYTES = 65_536;

export const fileVariableOf = (name: string): string => `${name}${SUFFIX}`;

/**
 * The variables with the secrets that `<name>_FILE` says the files of, without the line breaks at their ends. A line for each that is given twice,
 * cannot be read or is empty; no line shows what a file has.
 */
export function readSecretFiles(
  variables: Readonly<NodeJS.ProcessEnv>,
  names: readonly string[],
): { given: NodeJS.ProcessEnv; problems: string[] } {
  const given = { ...variables };
  const problems: string[] = [];
  for (const name of names) {
    const path = variables[fileVariableOf(name)];
    if (path === undefined || path === '') continue;
    const { value, problem } = variables[name] ? { problem: `${name} is set, too: leave one of them out` } : readSecret(path);
    if (value !== undefined) given[name] = value;
    if (problem !== undefined) problems.push(`environment: ${fileVariableOf(name)}: ${problem}`);
  }
  return { given, problems };
}

interface ReadSecret {
  value?: string;
  problem?: string;
}

function readSecret(path: string): ReadSecret {
  try {
    if (statSync(path).size > MAX_BYTES) return { problem: `expected a file of at most ${MAX_BYTES} bytes at ${path}` };
    const value = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
    return value === '' ? { problem: `there is nothing in ${path}` } : { value };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { problem: `${path} cannot be read (${code})` };
  }
}
