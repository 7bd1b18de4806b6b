import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Environment, environmentSchema } from '#shared/config/environment.ts';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import type { Config } from '#shared/config/load-config.ts';
import { announce, localRecordFile, readLocalRecord, writeLocalRecord } from '../../../../services/local/fleet/announce.ts';

let cwd: string;
let directory: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'muster-announce-'));
  directory = join(cwd, '.muster');
  mkdirSync(directory);
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const ECHO = { kind: 'echo' } as const;

const links = { create: ({ secret }: { secret: string }) => Promise.resolve({ token: `ml_of-${secret.length}`, expiresAt: 0 }) };

async function announced(
  env: Record<string, string> = {},
  agents: Config['settings']['agents'] = { echo: ECHO },
  isImage = false,
): Promise<string> {
  let text = '';
  const parsed: Environment = environmentSchema.parse(env);
  await announce({
    config: { env: parsed, settings: { ...settingsSchema.parse({}), agents } },
    directory,
    fleet: { port: 4000, links },
    out: { write: (part) => (text += part) },
    cwd,
    isImage,
  });
  return text;
}

/** The key that the printed curl command would send, with the shell's own reading of the line. */
function keyInCurl(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.includes('curl ')) ?? '';
  const shown = execFileSync('sh', ['-c', line.trim().replace(/^curl /, `printf '%s\\n' `)], { cwd, encoding: 'utf8' });
  return /Bearer (.+)/.exec(shown)?.[1] ?? '';
}

test('the first start that comes up shows the key, and keeps it for the commands of this machine, for its owner only', async () => {
  writeLocalRecord(directory, { url: null, key: 'mk_first' });
  const text = await announced();
  expect(text).toContain('http://127.0.0.1:4000/docs');
  expect(text).toContain('mk_first');
  expect(keyInCurl(text)).toBe('mk_first');
  expect(readLocalRecord(directory)).toEqual({ url: 'http://127.0.0.1:4000', key: 'mk_first' });
  expect(statSync(localRecordFile(directory)).mode & 0o777).toBe(0o600);
});

test('a later start keeps the key, does not show it, and its curl command works all the same', async () => {
  writeLocalRecord(directory, { url: 'http://127.0.0.1:9', key: 'mk_first' });
  const text = await announced();
  expect(text).not.toContain('mk_first');
  expect(text).toContain('.muster/local.json');
  expect(keyInCurl(text)).toBe('mk_first');
  expect(readLocalRecord(directory)).toEqual({ url: 'http://127.0.0.1:4000', key: 'mk_first' });
});

test('a link that signs a browser in is printed where this machine knows the key, and never the key itself', async () => {
  expect(await announced()).not.toContain('/sign-in/link');
  writeLocalRecord(directory, { url: 'http://127.0.0.1:9', key: 'mk_first' });
  const text = await announced({ MUSTER_PUBLIC_URL: 'https://fleet.example.com/' });
  expect(text).toContain('http://127.0.0.1:4000/sign-in/link?token=ml_of-8\n');
  expect(text).toContain('once, within 10 min; another one: npx muster open');
});

test('in a container the commands are those of its shell, and its log has no link, which would work nowhere', async () => {
  const text = await announced({ MUSTER_DATA_DIR: '/data', MUSTER_ADMIN_KEY: 'chosen-by-the-operator' }, { echo: ECHO }, true);
  expect(text).toContain('\n  muster send "Hello from the fleet"\n  muster tasks\n');
  expect(text).not.toMatch(/sign-in\/link|npx|curl|chosen-by-the-operator/);
});

test('the agents are named, as many as fit on a line', async () => {
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`agent-${n}`, ECHO]));
  expect(await announced()).toMatch(/^ {2}Agents {4}echo {3}\(.*muster\.config\.ts/m);
  expect(await announced({}, many)).toMatch(/agent-6, agent-7 and 2 more/);
  expect(await announced({}, {})).toMatch(/Agents {4}none/);
});

test('a key from the environment is named, not shown', async () => {
  const text = await announced({ MUSTER_ADMIN_KEY: 'chosen-by-the-operator' });
  expect(text).toContain('MUSTER_ADMIN_KEY');
  expect(text).not.toContain('chosen-by-the-operator');
  expect(keyInCurl(text)).toBe('chosen-by-the-operator');
});

test('where the data directory was chosen, the commands name it, as the shell reads it', async () => {
  expect(await announced()).toContain('\n  npx muster tasks\n');
  expect(await announced({ MUSTER_DATA_DIR: '../other' })).toContain('\n  MUSTER_DATA_DIR=../other npx muster tasks\n');
  const odd = "it's here";
  const assignment = / {2}(MUSTER_DATA_DIR=.*) npx muster tasks/.exec(await announced({ MUSTER_DATA_DIR: odd }))?.[1] ?? '';
  expect(execFileSync('sh', ['-c', `${assignment}; printf %s "$MUSTER_DATA_DIR"`], { cwd, encoding: 'utf8' })).toBe(odd);
});

test('a fleet that listens everywhere is reached on this machine, and by its public address where it has one', async () => {
  expect(await announced({ HOST: '0.0.0.0' })).toContain('http://127.0.0.1:4000/');
  expect(await announced({ HOST: '::1' })).toContain('http://[::1]:4000/');
  const text = await announced({ MUSTER_PUBLIC_URL: 'https://fleet.example.com/' });
  expect(text).toContain('https://fleet.example.com/board');
  expect(readLocalRecord(directory)?.url).toBe('http://127.0.0.1:4000');
});

test('the curl command names an agent that there is', async () => {
  expect(await announced()).toContain('"agent":"echo"');
  expect(await announced({}, { writer: ECHO, reader: ECHO })).toContain('"agent":"writer"');
  expect(await announced({}, {})).not.toContain('curl');
});
