import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAT_PLATFORMS, type ChatPlatformName, PLATFORM_FACTS } from '#shared/config/chat.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { secretVariables } from '#shared/config/secrets/secret-variables.ts';
import { createLog } from '#shared/log/create-log.ts';
import { PLATFORMS } from '../../../../services/chat/platforms/registry.ts';
import { describeReceiver } from '../../../../services/chat/receive/receive-update.ts';
import { readSources } from '../../../architecture/source-file.ts';

const sources = readSources(resolve(import.meta.dirname, '../../../..'));
const textOf = (path: string): string => sources.find((file) => file.path === path)?.text ?? '';
const textsBelow = (folder: string): string[] => sources.flatMap(({ path, text }) => (path.startsWith(folder) ? [text] : []));

const variablesOf = (platform: ChatPlatformName): string[] => Object.keys(PLATFORM_FACTS[platform].variables);
const chatPage = textOf('docs/chat.md');
/** Rows of the tables in the page on chat that begin with this cell. */
const rowsOf = (cell: string): string[] => chatPage.split('\n').filter((line) => line.startsWith(`| ${cell} |`));

describe.each(CHAT_PLATFORMS)('the platform %s', (platform) => {
  const { title } = PLATFORM_FACTS[platform];

  it('has an adapter among the dependencies', () => {
    expect(textOf('package.json')).toContain(`"@chat-adapter/${platform}"`);
  });

  it('gets its variables in docker-compose.yml and in the example of the secrets for Kubernetes', () => {
    const compose = textOf('docker-compose.yml');
    const secrets = textOf('k8s/base/secret.example.yaml');
    expect(variablesOf(platform).filter((name) => !compose.includes(`${name}: \${${name}:-}`))).toEqual([]);
    expect(variablesOf(platform).filter((name) => !secrets.includes(`  ${name}: `))).toEqual([]);
  });

  it('has a secret, and all of its secrets are withheld from commands', () => {
    const secrets = Object.entries(PLATFORM_FACTS[platform].variables).flatMap(([name, kind]) => (kind === 'secret' ? [name] : []));
    expect(secrets).not.toEqual([]);
    expect(secretVariables({})).toEqual(expect.arrayContaining(secrets));
  });

  it('is in each table of the page on chat, with its variables and its longest message', async () => {
    const [setUp = ''] = rowsOf(`\`${platform}\``);
    expect(variablesOf(platform).filter((name) => !setUp.includes(`\`${name}\``))).toEqual([]);
    const [sessions = '', answers = ''] = rowsOf(title);
    expect(sessions).toContain(`\`${platform}:`);
    const { maxCharacters, minEditMs } = await openDriver(platform);
    const [, , , longest = '', edits = ''] = answers.split('|').map((cell) => cell.trim());
    expect(Number(longest.replace(',', ''))).toBe(maxCharacters);
    expect(edits.startsWith('none')).toBe(minEditMs === null);
  });

  it('is in the README and in the pages on chat and on configuration', () => {
    expect(textOf('README.md')).toContain(title);
    expect(textOf('docs/chat.md')).toContain(title);
    expect(textOf('docs/configuration.md')).toContain(`\`${platform.toUpperCase()}_*\``);
  });

  it('is among those that the command line and the console offer for the results of a schedule', () => {
    const help = textsBelow('services/cli/').flatMap((text) => /'--platform <name>'[^)]*/.exec(text)?.[0] ?? []);
    expect(help.filter((text) => !new RegExp(`\\b${platform}\\b`).test(text))).toEqual([]);
    expect(help).not.toEqual([]);
    expect(textsBelow('services/dashboard/console/').some((text) => text.includes(`value: '${platform}', label: '${title}'`))).toBe(true);
  });

  it('says in the description of the API how its requests are proved', () => {
    const [post] = describeReceiver('/chat/:platform');
    expect(Object.keys(PLATFORMS[platform].proofs)).not.toEqual([]);
    expect(JSON.stringify(post?.request?.headers)).toContain(Object.keys(PLATFORMS[platform].proofs)[0]);
  });
});

async function openDriver(platform: ChatPlatformName): ReturnType<(typeof PLATFORMS)[ChatPlatformName]['open']> {
  const values = variablesOf(platform).map((name) => [name, name === 'DISCORD_PUBLIC_KEY' ? '0'.repeat(64) : 'x:y'] as const);
  const { env } = await loadConfig(Object.fromEntries(values), import.meta.dirname);
  return await PLATFORMS[platform].open(env, createLog({ level: 'silent', service: 'chat' }));
}
