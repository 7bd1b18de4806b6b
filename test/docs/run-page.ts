import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { childEnvironment } from '../support/test-environment.ts';
import { listPages, ROOT, type Snippet, snippetsOf } from './markdown.ts';

const PROGRAM_MS = 60_000;

/** A page that is read from top to bottom: its files and programs need each other. */
export interface RunPage {
  readonly page: string;
  readonly snippets: readonly Snippet[];
}

export const runPages: readonly RunPage[] = listPages()
  .map((page) => ({ page, snippets: snippetsOf(page).filter(({ isSkipped }) => !isSkipped) }))
  .filter(({ snippets }) => snippets.some(({ file, isProgram }) => file !== null || isProgram));

/** Where the files of a page are. */
export function folderOf(folder: string, page: string): string {
  return join(folder, page.replaceAll(/\W/g, '-'));
}

/** Writes the files that the reader of a page saves. */
export function saveFiles(folder: string, { page, snippets }: RunPage): void {
  for (const { file, text } of snippets) {
    if (file === null) continue;
    const path = join(folderOf(folder, page), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Writes the configuration of a fleet with what is given and the agents of all pages. Resolves to the file. */
export function writeConfiguration(folder: string, settings: SettingsInput): string {
  const configured = runPages.filter(({ snippets }) => snippets.some(({ file }) => file === 'muster.config.ts'));
  const imports = configured.map(
    ({ page }, at) => `import page${at} from ${JSON.stringify(join(folderOf(folder, page), 'muster.config.ts'))};`,
  );
  const agents = configured.map((_, at) => `...page${at}.agents`);
  // Under another name than the one that commands in this folder would read.
  const file = join(folder, 'fleet.config.ts');
  const lines = [
    ...imports,
    `const settings = ${JSON.stringify(settings)};`,
    `export default { ...settings, agents: { ...settings.agents, ${agents.join(', ')} } };`,
  ];
  writeFileSync(file, lines.join('\n'));
  return file;
}

/** Runs its programs and commands in their order; what each showed, and what it should have. */
export async function runPage(
  folder: string,
  { page, snippets }: RunPage,
  env: Record<string, string>,
): Promise<{ ran: object; expected: object }[]> {
  const results: { ran: object; expected: object }[] = [];
  for (const snippet of snippets.filter(({ isProgram, language, file }) => isProgram || (language === 'sh' && file === null))) {
    const { code, shown } = await runSnippet(snippet, folderOf(folder, page), env);
    const missing = snippet.shows.filter((text) => !shown.includes(text));
    const at = `${page}:${snippet.line}`;
    // The complete output is in the failure's text.
    results.push({ ran: { at, code, missing, shown }, expected: { at, code: snippet.exits, missing: [], shown } });
  }
  return results;
}

async function runSnippet(snippet: Snippet, cwd: string, env: Record<string, string>): Promise<{ code: number | null; shown: string }> {
  const [program, args] = commandOf(snippet, cwd);
  const child = spawn(program, args, { cwd, env: childEnvironment({ PYTHONDONTWRITEBYTECODE: '1', ...env }), timeout: PROGRAM_MS });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, shown };
}

/** How its reader starts a program in this language. */
function commandOf({ language, line, text }: Snippet, folder: string): [string, string[]] {
  if (language === 'python') return ['python3', ['-c', text]];
  if (language === 'sh') return ['bash', ['-c', `${SHELL}\n${text}`]];
  const file = join(folder, `program-${line}.ts`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, text);
  return [process.execPath, [file]];
}

/** `npx muster` of the sources. */
export const SHELL = `set -eu -o pipefail\nnpx() { shift; '${process.execPath}' '${join(ROOT, 'services/local/muster.mjs')}' "$@"; }`;
