import { importsOf, isModule, type Import, type SourceFile } from './source-file.ts';

/** Lowest first: each imports only itself and the ones before it. */
const SHARED_ORDER = [
  'text',
  'errors',
  'client',
  'time',
  'config',
  'log',
  'redis',
  'tenants',
  'audit',
  'files',
  'tasks',
  'metrics',
  'ledger',
  'providers',
  'queue',
  'waits',
  'daemons',
  'actions',
  'usage',
  'budgets',
  'models',
  'agents',
  'sessions',
  'schedules',
  'execution',
  'events',
  'deliveries',
  'findings',
  'http',
  'lifecycle',
];

/** A package and the only folder that may import it. */
const OWNERS: readonly { name: string; matches: RegExp; folder: string }[] = [
  { name: 'ioredis', matches: /^ioredis(\/|$)/, folder: 'shared/redis/' },
  { name: 'bullmq', matches: /^bullmq(\/|$)/, folder: 'shared/queue/' },
  { name: 'pino', matches: /^pino(\/|$)/, folder: 'shared/log/' },
  { name: '@opentelemetry', matches: /^@opentelemetry\//, folder: 'shared/log/' },
  { name: '@bull-board', matches: /^@bull-board\//, folder: 'services/dashboard/' },
];

/** A line per import that `isWrong` says is one. */
function check(files: readonly SourceFile[], isWrong: (file: SourceFile, found: Import) => boolean): string[] {
  return files
    .filter(isModule)
    .flatMap((file) => importsOf(file).flatMap((found) => (isWrong(file, found) ? [`${file.path} imports ${found.specifier}`] : [])));
}

const topOf = (path: string): string => path.split('/')[0] ?? '';
const folderOf = (path: string): string => path.split('/')[1] ?? '';

/** `local` is all services in one process; it alone knows the others. */
export function servicesImportingServices(files: readonly SourceFile[]): string[] {
  return check(files, ({ path }, { target }) => {
    if (topOf(path) !== 'services' || folderOf(path) === 'local' || target === undefined) return false;
    return topOf(target) === 'services' && folderOf(target) !== folderOf(path);
  });
}

/** What runs in a browser or in a thread of its own loads only what it uses, and the isolated process starts as a whole worker would. */
const LOADS_FILES = /^(services\/dashboard\/console\/|services\/worker\/watchdog\/watchdog-thread\.ts$|test\/)/;

/** Outside of a folder of shared its door is imported, inside of it the files behind. */
export function importsPastADoor(files: readonly SourceFile[]): string[] {
  return check(files, ({ path }, { target }) => {
    if (target === undefined || topOf(target) !== 'shared' || LOADS_FILES.test(path) || target.endsWith('/')) return false;
    const isInside = topOf(path) === 'shared' && folderOf(path) === folderOf(target);
    return isInside === /^shared\/[^/]+\/index\.ts$/.test(target);
  });
}

/** Services run without the tests, and the shared code without either. */
export function importsUpwards(files: readonly SourceFile[]): string[] {
  const allowed: Record<string, string[]> = { services: ['services', 'shared'], shared: ['shared'] };
  return check(files, ({ path }, { target }) => target !== undefined && allowed[topOf(path)]?.includes(topOf(target)) === false);
}

/** Of the rest of shared the client has the codes of errors, for their types. */
const CLIENT_IMPORTS = /^shared\/(client\/|errors\/index\.ts$)/;

/** It is loaded where there is no Node and no other module. */
export function importsOfTheClient(files: readonly SourceFile[]): string[] {
  return check(files, ({ path }, { target }) => path.startsWith('shared/client/') && !CLIENT_IMPORTS.test(target ?? ''));
}

/** A relative path to another top folder breaks when its file moves. */
export function sharedByRelativePath(files: readonly SourceFile[]): string[] {
  return check(files, ({ path }, { specifier, target }) => {
    return target !== undefined && specifier.startsWith('.') && topOf(target) === 'shared' && topOf(path) !== 'shared';
  });
}

export function sharedOutOfOrder(files: readonly SourceFile[]): string[] {
  return check(files, ({ path }, { target }) => {
    if (topOf(path) !== 'shared' || target === undefined || topOf(target) !== 'shared') return false;
    return SHARED_ORDER.indexOf(folderOf(target)) > SHARED_ORDER.indexOf(folderOf(path));
  });
}

export function sharedOutsideTheOrder(files: readonly SourceFile[]): string[] {
  return files.filter(({ path }) => topOf(path) === 'shared' && !SHARED_ORDER.includes(folderOf(path))).map(({ path }) => path);
}

/** Types count too: what names a type of a package knows the package. */
export function packagesOutsideTheirFolder(name: string, files: readonly SourceFile[]): string[] {
  const owner = OWNERS.find((entry) => entry.name === name);
  if (owner === undefined) throw new Error(`No folder is named for ${name}`);
  // The tests of that folder talk to the real thing, and the bench measures against it as users have it.
  const allowed = [owner.folder, `test/${owner.folder}`, 'test/bench/'];
  return check(files, ({ path }, { specifier }) => owner.matches.test(specifier) && !allowed.some((folder) => path.startsWith(folder)));
}
