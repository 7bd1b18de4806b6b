import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { type Config, DEFAULT_DATA_DIRECTORY, inputSchemaOf } from '#shared/config/index.ts';
import { type SignInLinks, signInLinkPath } from '#shared/tenants/index.ts';

interface AnnounceOptions {
  config: Pick<Config, 'env'> & { readonly settings: Pick<Config['settings'], 'agents' | 'signIn'> };
  /** The data directory, absolute. */
  directory: string;
  fleet: { port: number; links: Pick<SignInLinks, 'create'> };
  out: { write(text: string): unknown };
  cwd: string;
  /** Whether this runs in a container of the fleet's image. Who reads the text is outside of it, and it stays in the container's log. */
  isImage: boolean;
}

/**
 * Records the address of the fleet for the commands of this machine, and prints it for the person at the terminal, with a link that signs a
 * browser of this machine in. No log has that text.
 */
export async function announce({ config, directory, fleet, out, cwd, isImage }: AnnounceOptions): Promise<void> {
  const { HOST, MUSTER_ADMIN_KEY: chosenKey, MUSTER_DATA_DIR: chosen, MUSTER_PUBLIC_URL: publicUrl } = config.env;
  const before = readLocalRecord(directory);
  const url = `http://${reachableHost(HOST)}:${fleet.port}`;
  const key = chosenKey ?? before?.key ?? null;
  writeLocalRecord(directory, { url, key });
  const about = chosenKey === undefined ? keyDetails(before) : ({ newKey: null, keyOrigin: 'environment' } as const);
  const chosenDirectory = chosen === DEFAULT_DATA_DIRECTORY ? null : chosen;
  const agents = Object.keys(config.settings.agents);
  const textAgents = Object.entries(config.settings.agents).flatMap(([id, agent]) => (inputSchemaOf(agent) === undefined ? [id] : []));
  // No browser is in the container, where alone the link would work.
  const link = key === null || isImage ? null : await createLink(fleet.links, url, key);
  const linkMinutes = Math.ceil(config.settings.signIn.linkMs / 60_000);
  out.write(
    welcomeText({
      url: (publicUrl ?? url).replace(/\/$/, ''),
      link,
      linkMinutes,
      directory,
      cwd,
      isImage,
      chosenDirectory,
      agents,
      textAgents,
      ...about,
    }),
  );
}

/** Null when Redis does not answer: the fleet is up all the same. */
async function createLink(links: Pick<SignInLinks, 'create'>, url: string, secret: string): Promise<string | null> {
  const made = await links.create({ secret, isLocal: true }).catch(() => null);
  return made === null ? null : `${url}${signInLinkPath(made.token)}`;
}

/** A key without an address was created by this start, or by a start that failed, as on a busy port. */
function keyDetails(before: LocalRecord | null): Pick<WelcomeOptions, 'newKey' | 'keyOrigin'> {
  return { newKey: before?.url === null ? before.key : null, keyOrigin: before?.key ? 'file' : 'unknown' };
}

/** A wildcard address cannot be opened. An IPv6 address is written in brackets in a URL. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

interface WelcomeOptions {
  /** Where the fleet is reached, without a slash at the end. */
  url: string;
  /** Signs a browser of this machine in, once; null when there is none. */
  link: string | null;
  /** How long the link works. */
  linkMinutes: number;
  /** The data directory, absolute. */
  directory: string;
  /** Relative paths in the commands start here. */
  cwd: string;
  isImage: boolean;
  /** `MUSTER_DATA_DIR` as it was set; null for the default, which the commands find by themselves. */
  chosenDirectory: string | null;
  /** Ids of the configured agents. */
  agents: readonly string[];
  /** Those that take a text as it is. */
  textAgents: readonly string[];
  /** The admin key when this start generated it. */
  newKey: string | null;
  /** The origin of the key otherwise. */
  keyOrigin: 'environment' | 'file' | 'unknown';
}

/** The text for a person once the fleet is up: addresses, the key, and three commands to try. */
function welcomeText(options: WelcomeOptions): string {
  const { url, isImage } = options;
  const muster = musterCommand(options);
  const file = relative(options.cwd, localRecordFile(options.directory));
  const from = file.startsWith('.') || file.startsWith('/') ? file : `./${file}`;
  return [
    '',
    'Muster is up.',
    '',
    `  Console   ${url}/`,
    ...linkLines(options, muster),
    `  Board     ${url}/board`,
    `  API       ${url}/v1`,
    `  API docs  ${url}/docs`,
    `  Guide     ${url}/guide/`,
    `  Agents    ${agentsLine(options.agents, url)}`,
    `  Key       ${keyLine(options, from)}`,
    '',
    isImage ? 'Try, in a shell of this container (docker exec -it <container> sh):' : 'Try, in another terminal:',
    '',
    ...tryLines(options, muster, from),
    `  ${muster} tasks`,
    '',
    isImage ? 'SIGTERM lets running work end and stops.' : 'Ctrl-C lets running work end and stops; a second Ctrl-C stops at once.',
    '',
  ].join('\n');
}

/** How the command is called where the reader is. */
function musterCommand({ chosenDirectory, isImage }: WelcomeOptions): string {
  if (isImage) return 'muster';
  // In another terminal only this variable says which fleet is meant.
  return chosenDirectory === null ? 'npx muster' : `MUSTER_DATA_DIR=${forShell(chosenDirectory)} npx muster`;
}

/** For an agent that there is and takes any text: the one that `send` takes by itself, or the first of an own configuration. */
function tryLines(options: WelcomeOptions, muster: string, from: string): string[] {
  const agent = options.textAgents.includes('echo') ? 'echo' : options.textAgents[0];
  if (agent === undefined) return [];
  const send = `${muster} send "Hello from the fleet"${agent === 'echo' ? '' : ` --agent ${forShell(agent)}`}`;
  // The image has no curl.
  if (options.isImage) return [`  ${send}`];
  const body = JSON.stringify({ agent, input: 'Hello from curl' });
  const headers = `-H "Authorization: Bearer ${keyForCurl(options, from)}" -H "Content-Type: application/json"`;
  return [`  ${send}`, `  curl -s "${options.url}/v1/tasks?waitMs=10000" ${headers} -d '${body}'`];
}

function linkLines({ link, linkMinutes }: WelcomeOptions, muster: string): string[] {
  if (link === null) return [];
  return [
    `  Sign in   ${link}`,
    `            (signs a browser of this machine in, once, within ${linkMinutes} min; another one: ${muster} open)`,
  ];
}

/** Names that fit on a line. */
const MAX_AGENTS = 8;

function agentsLine(agents: readonly string[], url: string): string {
  const more = agents.length - MAX_AGENTS;
  const names = agents.slice(0, MAX_AGENTS).join(', ');
  return `${names === '' ? 'none' : names}${more > 0 ? ` and ${more} more` : ''}   (add your own in muster.config.ts: ${url}/guide/agents)`;
}

function keyLine({ newKey, keyOrigin }: WelcomeOptions, from: string): string {
  if (newKey !== null) return `${newKey}   (shown only once; kept for the commands of this machine in ${from})`;
  if (keyOrigin === 'environment') return 'the one in MUSTER_ADMIN_KEY';
  if (keyOrigin === 'file') return `printed on the first start, kept in ${from} (lost? start once with MUSTER_ADMIN_KEY set to a new one)`;
  return 'printed on the first start (lost? start once with MUSTER_ADMIN_KEY set to a new one)';
}

/** A key that was shown before is read from its file by the command, so that it is not on the screen again. */
function keyForCurl({ newKey, keyOrigin }: WelcomeOptions, from: string): string {
  if (newKey !== null) return newKey;
  return keyOrigin === 'unknown' ? '<your key>' : `$(node -p "JSON.parse(fs.readFileSync('${from}')).key")`;
}

function forShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** `local.json` in the data directory, by which the commands of this machine find the fleet. */
const localRecordSchema = z.object({
  /** Null until a start succeeds, whose key is then shown. */
  url: z.string().nullable(),
  /** The admin key in plain; null when this machine has never seen it. */
  key: z.string().nullable(),
});
type LocalRecord = z.infer<typeof localRecordSchema>;

export const localRecordFile = (directory: string): string => join(directory, 'local.json');

/** Null when no fleet has run here, or the file cannot be read. */
export function readLocalRecord(directory: string): LocalRecord | null {
  try {
    return localRecordSchema.parse(JSON.parse(readFileSync(localRecordFile(directory), 'utf8')));
  } catch {
    return null;
  }
}

/** Readable by the owner only. Redis has only the hash of the key. */
export function writeLocalRecord(directory: string, record: LocalRecord): void {
  const draft = `${localRecordFile(directory)}.draft`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  // An existing draft keeps its mode.
  chmodSync(draft, 0o600);
  renameSync(draft, localRecordFile(directory));
}
