import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../support/test-environment.ts';
import { useFolder } from '../../support/use-folder.ts';

const run = promisify(execFile);
const LOAD_CONFIG = fileURLToPath(new URL('../../../shared/config/load-config.ts', import.meta.url));
const REPORT = `
const { loadConfig } = await import(process.argv[1]);
const answer = await loadConfig({ MUSTER_CONFIG: process.argv[2] }).then(
  ({ settings }) => ({ agents: Object.keys(settings.agents) }),
  (error) => ({ problems: error.details.problems }),
);
console.log(JSON.stringify(answer));
`;

const folder = await useFolder();
mkdirSync(join(folder, 'common'));
writeFileSync(join(folder, 'common/package.json'), '{ "type": "commonjs" }');
mkdirSync(join(folder, 'node_modules/ai'), { recursive: true });
writeFileSync(join(folder, 'node_modules/ai/package.json'), '{ "name": "ai", "version": "5.0.9", "type": "module", "exports": "./ai.js" }');
writeFileSync(join(folder, 'node_modules/ai/ai.js'), 'export const generateText = () => null;\n');

/** What a process of its own, in a folder outside of the repository, makes of a configuration there. */
async function loadOutside(name: string, text: string): Promise<unknown> {
  const file = join(folder, name);
  writeFileSync(file, text);
  const args = ['--input-type=module', '--eval', REPORT, LOAD_CONFIG, file];
  const { stdout } = await run(process.execPath, args, { cwd: folder, env: childEnvironment({}) });
  return JSON.parse(stdout);
}

describe('a configuration outside of the repository', () => {
  it.each(['#shared/config/define-config.ts', 'muster/config', 'muster-fleet'])('imports %s', async (specifier) => {
    const text = `import { defineConfig } from '${specifier}';\nexport default defineConfig({ agents: { mine: { kind: 'echo' } } });\n`;

    expect(await loadOutside('muster.config.ts', text)).toEqual({ agents: ['mine'] });
  });

  it.each([
    ['TypeScript that cannot be parsed', 'broken.ts', 'export default {\n  agents: {\n};\n', /broken\.ts:[34]: cannot be loaded: /],
    [
      'JavaScript that cannot be parsed',
      'broken.mjs',
      'export default {\n  a: 1\n  b: 2\n};\n',
      /broken\.mjs:3: cannot be loaded: Unexpected/,
    ],
    ['a statement that throws', 'throws.ts', 'export default {};\n\nnull!.x;\n', /throws\.ts:3: cannot be loaded: Cannot read/],
    [
      'a package that is not there',
      'absent.ts',
      "import 'not-there-at-all';\nexport default {};\n",
      /absent\.ts:1: cannot be loaded: there is no package not-there-at-all: run npm install not-there-at-all$/,
    ],
    [
      'a file that is not there',
      'alone.ts',
      "export default {};\nimport './other.ts';\n",
      /alone\.ts:2: cannot be loaded: there is no \.\/other\.ts$/,
    ],
    [
      'an import where package.json says CommonJS',
      'common/muster.config.ts',
      "import { defineConfig } from 'muster-fleet';\nexport default defineConfig({});\n",
      /muster\.config\.ts:1: needs "type": "module" in \/.*\/common\/package\.json: /,
    ],
    [
      'an AI SDK that does not know the models of the fleet',
      'other-sdk.ts',
      "import { generateText } from 'ai';\nexport const run = (_task, { model }) => generateText({ model: model() });\nexport default {};\n",
      /other-sdk\.ts:1: cannot be loaded: the AI SDK is 5\.0\.9, and context\.model\(\) gives models of version 7: run npm install ai@7$/,
    ],
  ])('names the line of %s', async (_what, name, text, problem) => {
    expect(await loadOutside(name, text)).toEqual({ problems: [expect.stringMatching(problem)] });
  });

  it('may use another AI SDK with models of its own', async () => {
    const text =
      "import { generateText } from 'ai';\nexport default { agents: { mine: { kind: 'function', run: () => generateText({ model: 'own' }) } } };\n";

    expect(await loadOutside('own-models.ts', text)).toEqual({ agents: ['mine'] });
  });
});
