import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environmentSchema } from '#shared/config/environment.ts';
import { fileVariableOf } from '#shared/config/secrets/secret-files.ts';
import { secretVariables } from '#shared/config/secrets/secret-variables.ts';
import { WITHOUT_FILES } from '#shared/lifecycle/open-parts.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const inRepository = (path: string): string => join(ROOT, path);

export const exists = (path: string): boolean => existsSync(inRepository(path));

/** The source of a file that the image has compiled. */
export const sourceOf = (path: string): string => path.replace(/\.js$/, '.ts');

export const read = (path: string): string => readFileSync(inRepository(path), 'utf8');

/** The services that run as processes of their own; `local` is all of them in one. */
export const SERVICES: readonly string[] = readdirSync(inRepository('services')).filter(
  (name) => name !== 'local' && exists(`services/${name}/main.ts`),
);

/** Variables that give access to something. */
export const SECRETS: ReadonlySet<string> = new Set(secretVariables({}));

/** Every name that a process reads from its environment. `NODE_ENV` is for libraries, `HOME` for programs. */
export const ENVIRONMENT_NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(environmentSchema.shape),
  ...[...SECRETS].map(fileVariableOf),
  'NODE_ENV',
  'HOME',
]);

/** The paths that a service answers, as its sources name them. */
export function pathsOf(service: string): string[] {
  const sources = readdirSync(inRepository(`services/${service}`), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('console/'),
  );
  const text = sources.map((file) => read(`services/${service}/${file}`)).join('\n');
  const found = text.matchAll(/(?:\bpath: |PATH = |\.(?:get|post|put|patch|delete|all|use|route)\(\s*)'(\/[^'?]*)'/g);
  return [...new Set([...found].map(([, path = '']) => path.replaceAll(/:\w+/g, 'x')))];
}

/** Where Redis is, and what opens what is sealed there. */
const FOR_ALL: ReadonlySet<string> = new Set(['REDIS_URL', 'MUSTER_SEAL_KEY', 'MUSTER_SEAL_KEY_PREVIOUS']);
/** For the bucket. */
const FOR_FILES: ReadonlySet<string> = new Set(['MUSTER_S3_ACCESS_KEY', 'MUSTER_S3_SECRET_KEY']);
/** Which service needs a secret; what is not listed is a chat platform's. */
const HOLDERS: Readonly<Record<string, string>> = {
  MUSTER_ADMIN_KEY: 'api',
  OPENAI_API_KEY: 'worker',
  MUSTER_OIDC_CLIENT_SECRET: 'dashboard',
};

export function mayHold(service: string, variable: string): boolean {
  if (FOR_ALL.has(variable)) return true;
  if (FOR_FILES.has(variable)) return !WITHOUT_FILES.has(service);
  return (HOLDERS[variable] ?? 'chat') === service;
}
